#include "passes/module_blob.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/xxhash.h>

#include <cstring>

#include "passes/kernel_metadata.h"
#include "passes/shielded.h"
#include "passes/static_hash.h"
#include "runtime/core/abi/blob_format.h"

namespace mneme::passes {
namespace {

constexpr int kZstdLevel = 9;

void appendText(llvm::SmallVectorImpl<char>& bytes, llvm::StringRef text) {
  bytes.append(text.begin(), text.end());
}

} // namespace

Blob packBlob(llvm::StringRef bitcode, llvm::json::Object metadata, uint64_t staticHash) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(metadata));
  llvm::SmallVector<uint8_t, 0> compressed;
  llvm::compression::zstd::compress(llvm::arrayRefFromStringRef(bitcode), compressed, kZstdLevel);

  llvm::SmallVector<char, 0> payload;
  appendText(payload, text);
  appendText(payload, llvm::toStringRef(compressed));
  embed::BlobHeader header{};
  std::memcpy(header.magic, embed::kBlobMagic, sizeof(header.magic));
  header.version = embed::kBlobVersion;
  header.headerBytes = sizeof(header);
  header.staticHash = staticHash;
  header.metadataBytes = text.size();
  header.bitcodeBytes = compressed.size();
  header.bitcodeRawBytes = bitcode.size();
  header.checksum = llvm::xxh3_64bits(llvm::StringRef(payload.data(), payload.size()));
  Blob blob{.staticHash = staticHash, .bytes = {}, .bitcodeOffset = sizeof(header) + text.size()};
  appendText(blob.bytes, llvm::StringRef(reinterpret_cast<const char*>(&header), sizeof(header)));
  appendText(blob.bytes, llvm::StringRef(payload.data(), payload.size()));
  return blob;
}

Blob makeBlob(const Closure& closure, const llvm::Module& original, const BuildFacts& build,
              std::string& error) {
  if (!llvm::compression::zstd::isAvailable()) {
    error = "this compiler's LLVM was built without zstd; use a clang whose LLVM has it "
            "(-DLLVM_ENABLE_ZSTD=ON)";
    return {};
  }
  const Bitcode bitcode = bitcodeOf(*closure.module);
  const llvm::StringRef raw(bitcode.data(), bitcode.size());
  const CodeIdentity identity =
      identify(llvm::MemoryBufferRef(raw, "mneme closure"), closure.kernel, error);
  if (!error.empty())
    return {};
  Blob blob =
      packBlob(raw, describeClosure(closure, identity, original, build), identity.staticHash);
  blob.codeHash = identity.codeHash;
  return blob;
}

} // namespace mneme::passes
