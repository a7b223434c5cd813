#include "runtime/device/bulk/bulk.h"

namespace mneme::device {

namespace bulk {
extern const char memoryPtx[];
extern const unsigned long memoryPtxBytes;
extern const char comparePtx[];
extern const unsigned long comparePtxBytes;
extern const unsigned char memoryBitcode[];
extern const unsigned long memoryBitcodeBytes;
extern const unsigned char compareBitcode[];
extern const unsigned long compareBitcodeBytes;
} // namespace bulk

std::string_view bulkPtx(BulkModule module) noexcept {
  if (module == BulkModule::Memory)
    return {bulk::memoryPtx, bulk::memoryPtxBytes};
  return {bulk::comparePtx, bulk::comparePtxBytes};
}

std::span<const std::byte> bulkBitcode(BulkModule module) noexcept {
  if (module == BulkModule::Memory)
    return std::as_bytes(std::span(bulk::memoryBitcode, bulk::memoryBitcodeBytes));
  return std::as_bytes(std::span(bulk::compareBitcode, bulk::compareBitcodeBytes));
}

} // namespace mneme::device
