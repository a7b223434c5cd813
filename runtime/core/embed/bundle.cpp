// Room core/embed: the offload bundle of HIP: magic, number of entries, then per entry offset, size
// and target name. A compressed bundle has a header of its own in front of a Zstandard frame.
#include <string_view>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/member_compression.h"

namespace mneme::embed {
namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr uint16_t kZstdMethod = 1;

struct CompressedPrefix {
  char magic[4];
  uint16_t version;
  uint16_t method;
};

struct CompressedHeader {
  uint64_t headerBytes;
  uint64_t fileBytes; ///< header included
  uint64_t rawBytes;
};

bool startsWith(Bytes bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

/// Version 2 counts in 32 bits, version 3 in 64; a hash of the content follows. Nothing for a
/// version or method that is not known here.
std::optional<CompressedHeader> readCompressedHeader(Bytes bytes) {
  constexpr uint64_t kHashBytes = 8;
  auto prefix = readAt<CompressedPrefix>(bytes, 0, "bundle header");
  uint64_t at = sizeof(prefix);
  if (prefix.method != kZstdMethod)
    return std::nullopt;
  if (prefix.version == 2)
    return CompressedHeader{at + 8 + kHashBytes, readAt<uint32_t>(bytes, at, "bundle header"),
                            readAt<uint32_t>(bytes, at + 4, "bundle header")};
  if (prefix.version == 3)
    return CompressedHeader{at + 16 + kHashBytes, readAt<uint64_t>(bytes, at, "bundle header"),
                            readAt<uint64_t>(bytes, at + 8, "bundle header")};
  return std::nullopt;
}

struct EntryHeader {
  uint64_t offset;
  uint64_t sizeBytes;
  uint64_t nameBytes;
};

} // namespace

bool isOffloadBundle(Bytes bytes) { return startsWith(bytes, kBundleMagic); }

bool isCompressedBundle(Bytes bytes) { return startsWith(bytes, kCompressedMagic); }

uint64_t compressedBundleSize(Bytes header) {
  std::optional<CompressedHeader> known = readCompressedHeader(header);
  return known ? known->fileBytes : 0;
}

std::vector<std::byte> expandBundle(Bytes bytes) {
  std::optional<CompressedHeader> header = readCompressedHeader(bytes);
  if (!header)
    return {};
  if (header->fileBytes < header->headerBytes)
    throw Error(ErrorCode::ArtifactCorrupt,
                "the offload bundle is damaged: its header makes no sense");
  Bytes frame = requireSlice(bytes, header->headerBytes, header->fileBytes - header->headerBytes,
                             "compressed bundle");
  return expandZstd(frame, header->rawBytes);
}

void visitCompressedBundle(Bytes bytes, const VisitBlob& visit) {
  const std::vector<std::byte> bundle = expandBundle(bytes);
  if (isOffloadBundle(bundle))
    visitOffloadBundle(bundle, visit);
}

void visitCodeObjects(Bytes bytes, const std::function<void(Bytes)>& visit) {
  uint64_t position = kBundleMagic.size();
  auto count = readAt<uint64_t>(bytes, position, "bundle header");
  position += sizeof(count);
  for (uint64_t index = 0; index < count; ++index) {
    auto entry = readAt<EntryHeader>(bytes, position, "bundle entry");
    position += sizeof(entry);
    position += requireSlice(bytes, position, entry.nameBytes, "bundle entry name").size();
    Bytes image = requireSlice(bytes, entry.offset, entry.sizeBytes, "bundle entry");
    if (elf::isElf(image))
      visit(image);
  }
}

void visitOffloadBundle(Bytes bytes, const VisitBlob& visit) {
  visitCodeObjects(bytes, [&](Bytes image) { visitElf(image, visit); });
}

void visitImage(Bytes bytes, const VisitBlob& visit) {
  if (isFatBinary(bytes))
    visitFatBinary(bytes, visit);
  else if (isOffloadBundle(bytes))
    visitOffloadBundle(bytes, visit);
  else if (isCompressedBundle(bytes))
    visitCompressedBundle(bytes, visit);
  else if (elf::isElf(bytes))
    visitElf(bytes, visit);
  else if (isPtx(bytes))
    visitPtx(bytes, visit);
}

} // namespace mneme::embed
