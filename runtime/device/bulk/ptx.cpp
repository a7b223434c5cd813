#include "runtime/device/bulk/bulk.h"

namespace mneme::device {

namespace bulk {
extern const char memoryPtx[];
extern const unsigned long memoryPtxBytes;
extern const char comparePtx[];
extern const unsigned long comparePtxBytes;
} // namespace bulk

std::string_view bulkPtx(BulkModule module) noexcept {
  if (module == BulkModule::Memory)
    return {bulk::memoryPtx, bulk::memoryPtxBytes};
  return {bulk::comparePtx, bulk::comparePtxBytes};
}

} // namespace mneme::device
