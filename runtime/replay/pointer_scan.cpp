#include "runtime/replay/pointer_scan.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/base/error.h"
#include "runtime/replay/text.h"

namespace mneme::replay {

namespace {

/// Values looked at together: the compiler turns the test of a block into vector code.
constexpr size_t kBlock = 512;

uint64_t valueAt(const std::byte* bytes, size_t index) {
  uint64_t value;
  std::memcpy(&value, bytes + 8 * index, 8);
  return value;
}

} // namespace

PointerScan::PointerScan(std::vector<const artifact::Region*> regions)
    : regions_(std::move(regions)) {
  uint64_t end = 0;
  begin_ = UINT64_MAX;
  for (const artifact::Region* region : regions_) {
    begin_ = std::min(begin_, region->address);
    end = std::max(end, region->address + region->sizeBytes);
  }
  span_ = regions_.empty() ? 0 : end - begin_;
}

void PointerScan::inspectArguments(const std::vector<std::vector<std::byte>>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    inspect(values[i], 0, "argument " + std::to_string(i));
}

PieceInspector PointerScan::inspector() {
  return [this](const UploadPiece& piece, std::span<const std::byte> bytes) {
    const artifact::Region& region = piece.snapshot->regions()[piece.region];
    inspect(bytes, region.address + piece.offset, "");
  };
}

void PointerScan::inspect(std::span<const std::byte> bytes, uint64_t address,
                          const std::string& where) {
  const size_t skip = std::min<size_t>(-address % 8, bytes.size());
  const std::byte* data = bytes.data() + skip;
  const size_t count = (bytes.size() - skip) / 8;
  for (size_t block = 0; block < count; block += kBlock) {
    const size_t size = std::min(kBlock, count - block);
    size_t hits = 0;
    for (size_t i = 0; i < size; ++i)
      hits += valueAt(data, block + i) - begin_ < span_;
    for (size_t i = 0; i < size && hits > 0; ++i)
      for (const artifact::Region* region : regions_) {
        if (valueAt(data, block + i) - region->address >= region->sizeBytes)
          continue;
        const std::string holder =
            where.empty() ? "memory at " + hexText(address + skip + 8 * (block + i)) : where;
        std::lock_guard lock(mutex_);
        if (found_.empty())
          found_ = "the recorded address " + hexText(region->address) + " of global '" +
                   region->name + "' is taken in this process and " + holder +
                   " points to it; try again in a fresh process";
        return;
      }
  }
}

void PointerScan::throwIfFound() const {
  std::lock_guard lock(mutex_);
  if (!found_.empty())
    throw Error(ErrorCode::AddressUnavailable, found_);
}

} // namespace mneme::replay
