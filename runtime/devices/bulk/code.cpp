// Room devices/bulk: the compiled kernels of the bulk operations. The build compiles kernels/*.cpp
// and writes the results into generated sources as arrays (CMakeLists.txt, embed_text.cmake and
// embed_bytes.cmake): PTX for NVIDIA GPUs, LLVM bitcode for AMD GPUs.
#include "runtime/devices/bulk/bulk.h"

namespace mneme::device {

// Defined in the generated sources.
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
