#include "runtime/core/embed/bitcode.h"

#include <string>

#include <zstd.h>

#include "runtime/core/base/error.h"

namespace mneme::embed {
namespace {

[[noreturn]] void corrupt(const std::string& why) {
  throw Error(ErrorCode::ArtifactCorrupt, "the embedded kernel IR is damaged: " + why);
}

} // namespace

std::vector<std::byte> decompressBitcode(std::span<const std::byte> frame, uint64_t rawBytes) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != rawBytes)
    corrupt("its compressed size is not what the header says");
  std::vector<std::byte> raw(rawBytes);
  const size_t written = ZSTD_decompress(raw.data(), raw.size(), frame.data(), frame.size());
  if (ZSTD_isError(written))
    corrupt(ZSTD_getErrorName(written));
  if (written != rawBytes)
    corrupt("it is shorter than its header says");
  return raw;
}

} // namespace mneme::embed
