#include <doctest/doctest.h>

#include <cstring>

#include "image_maker.h"
#include "runtime/core/abi/blob_format.h"
#include "runtime/core/base/error.h"
#include "runtime/core/embed/kernel_blob.h"

using namespace mneme;
using namespace mneme::embed;
using namespace mneme::embed::test;

namespace {

constexpr uint64_t kHash = 0x0123456789abcdef;

ErrorCode parseError(const Buffer& bytes) {
  try {
    KernelBlob::parse(bytes);
  } catch (const Error& failure) {
    return failure.code();
  }
  return ErrorCode::Ok;
}

Buffer withHeader(Buffer blob, void (*change)(BlobHeader&)) {
  BlobHeader header;
  std::memcpy(&header, blob.data(), sizeof(header));
  change(header);
  std::memcpy(blob.data(), &header, sizeof(header));
  return blob;
}

} // namespace

TEST_CASE("a blob is read back field by field") {
  KernelBlob blob = KernelBlob::parse(blobFor("add", kHash, R"(["other"])"));
  CHECK(blob.kernel == "add");
  CHECK(blob.demangled == "add(int*)");
  CHECK(blob.staticHash == kHash);
  CHECK(blob.arch == "sm_90");
  CHECK(blob.triple == "nvptx64-nvidia-cuda");
  REQUIRE(blob.args.size() == 2);
  CHECK(blob.args[0].kind == ArgKind::Pointer);
  CHECK(blob.args[1].name == "n");
  CHECK(blob.args[1].sizeBytes == 4);
  CHECK(blob.args[1].isSpecializable);
  REQUIRE(blob.globals.size() == 1);
  CHECK(blob.globals[0].name == "state");
  CHECK(blob.globals[0].isConstant);
  CHECK_FALSE(blob.globals[0].isDefined);
  CHECK(blob.undefined == std::vector<std::string>{"other"});
  CHECK(blob.sharedBytes == 128);
  CHECK(blob.maxThreads == 256);
  CHECK(blob.minBlocks == 2);
  CHECK(blob.bitcode == bytesOf("bitcode of add"));
}

TEST_CASE("bytes behind a blob do not matter") {
  Buffer blob = blobFor("add", kHash);
  blob.resize(blob.size() + 100);
  CHECK(KernelBlob::parse(blob).kernel == "add");
}

TEST_CASE("a blob cut anywhere is refused") {
  Buffer blob = blobFor("add", kHash);
  for (size_t size = 0; size < blob.size(); ++size)
    CHECK(parseError(Buffer(blob.begin(), blob.begin() + size)) == ErrorCode::ArtifactCorrupt);
}

TEST_CASE("a blob with any bit flipped is refused") {
  const Buffer blob = blobFor("add", kHash);
  for (size_t bit = 0; bit < blob.size() * 8; ++bit) {
    Buffer damaged = blob;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    ErrorCode code = parseError(damaged);
    CAPTURE(bit);
    CHECK((code == ErrorCode::ArtifactCorrupt || code == ErrorCode::Unsupported));
  }
}

TEST_CASE("sizes that make no sense are refused before anything is allocated") {
  Buffer blob = blobFor("add", kHash);
  CHECK(parseError(withHeader(blob, [](BlobHeader& h) { h.bitcodeRawBytes = UINT64_MAX; })) ==
        ErrorCode::ArtifactCorrupt);
  CHECK(parseError(withHeader(blob, [](BlobHeader& h) { h.bitcodeRawBytes = 1u << 29; })) ==
        ErrorCode::ArtifactCorrupt);
  CHECK(parseError(withHeader(blob, [](BlobHeader& h) { h.metadataBytes = UINT64_MAX; })) ==
        ErrorCode::ArtifactCorrupt);
  CHECK(parseError(withHeader(blob, [](BlobHeader& h) { h.bitcodeBytes = UINT64_MAX - 8; })) ==
        ErrorCode::ArtifactCorrupt);
  CHECK(parseError(withHeader(blob, [](BlobHeader& h) { h.headerBytes = UINT32_MAX; })) ==
        ErrorCode::ArtifactCorrupt);
}

TEST_CASE("metadata that is not what the format says is refused") {
  std::string deep(5000, '[');
  CHECK(parseError(blobWith(deep, "x", kHash)) == ErrorCode::ArtifactCorrupt);
  CHECK(parseError(blobWith("{}", "x", kHash)) == ErrorCode::ArtifactCorrupt);
  CHECK(parseError(blobWith("", "x", kHash)) == ErrorCode::ArtifactCorrupt);
  CHECK(parseError(blobWith("\xff\xfe", "x", kHash)) == ErrorCode::ArtifactCorrupt);
  CHECK(parseError(blobWith(metadataFor("add", kHash + 1), "x", kHash)) ==
        ErrorCode::ArtifactCorrupt);
  CHECK(parseError(blobWith(metadataFor("add", kHash, "7"), "x", kHash)) ==
        ErrorCode::ArtifactCorrupt);
}

TEST_CASE("a blob of another version names both versions") {
  Buffer blob = withHeader(blobFor("add", kHash), [](BlobHeader& h) { h.version = 9; });
  CHECK(parseError(blob) == ErrorCode::Unsupported);
}
