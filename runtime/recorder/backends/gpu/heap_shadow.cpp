#include "runtime/recorder/backends/gpu/heap_shadow.h"

#include <vector>

namespace mneme::record::gpu {
namespace {

uint64_t placeOf(const Piece& piece) { return piece.region->address + piece.offset; }

} // namespace

HeapShadow::HeapShadow(const device::gpu::Driver& driver, int device, std::span<const Piece> pieces,
                       const AddressRange& heap, device::BulkOperations* bulk) {
  std::vector<device::CopyRange> ranges;
  uint64_t sizeBytes = 0;
  for (const Piece& piece : pieces)
    if (placeOf(piece) - heap.begin < heap.sizeBytes) {
      ranges.push_back({sizeBytes, placeOf(piece), piece.sizeBytes});
      sizeBytes += piece.sizeBytes;
    }
  if (ranges.empty())
    return;
  memory_ = device::gpu::DeviceRange::allocate(driver, device, sizeBytes);
  for (device::CopyRange& range : ranges) {
    range.destination += memory_.address();
    copies_[range.source] = range.destination;
  }
  bulk->restore(ranges);
}

uint64_t HeapShadow::addressOf(const Piece& piece) const {
  const auto found = copies_.find(placeOf(piece));
  return found == copies_.end() ? placeOf(piece) : found->second;
}

} // namespace mneme::record::gpu
