#include "runtime/emulator/runtimes/core/copies.h"

#include <cstring>

#include "runtime/emulator/runtimes/core/heap.h"

namespace mneme::cpu_runtime {
namespace {

/// Bytes from the first to the last byte of a pitched block.
size_t spanOf(const Block3D& block, size_t width, size_t rows, size_t slices) {
  return (slices - 1) * block.slicePitch + (rows - 1) * block.pitch + width;
}

Status checkBlock(const Block3D& block, size_t width, size_t rows, size_t slices) {
  if (block.pitch < width && rows * slices > 1)
    return Status::InvalidPitchValue;
  if (!block.base || !Heap::instance().isAccessible(block.base, spanOf(block, width, rows, slices)))
    return Status::InvalidValue;
  return Status::Success;
}

char* rowOf(const Block3D& block, size_t row, size_t slice) {
  return static_cast<char*>(block.base) + slice * block.slicePitch + row * block.pitch;
}

} // namespace

Status copyBytes(void* destination, const void* source, size_t bytes) {
  if (bytes == 0)
    return Status::Success;
  if (!destination || !source || !Heap::instance().isAccessible(destination, bytes) ||
      !Heap::instance().isAccessible(source, bytes))
    return Status::InvalidValue;
  if (!isFaulted())
    std::memmove(destination, source, bytes);
  return Status::Success;
}

Status copyBlock(const Block3D& destination, const Block3D& source, size_t width, size_t rows,
                 size_t slices) {
  if (width == 0 || rows == 0 || slices == 0)
    return Status::Success;
  for (const Block3D* block : {&destination, &source})
    if (const Status bad = checkBlock(*block, width, rows, slices); bad != Status::Success)
      return bad;
  for (size_t slice = 0; slice < slices && !isFaulted(); ++slice)
    for (size_t row = 0; row < rows; ++row)
      std::memmove(rowOf(destination, row, slice), rowOf(source, row, slice), width);
  return Status::Success;
}

Status fillBlock(const Block3D& destination, int value, size_t width, size_t rows, size_t slices) {
  if (width == 0 || rows == 0 || slices == 0)
    return Status::Success;
  if (const Status bad = checkBlock(destination, width, rows, slices); bad != Status::Success)
    return bad == Status::InvalidPitchValue ? Status::InvalidValue : bad;
  for (size_t slice = 0; slice < slices && !isFaulted(); ++slice)
    for (size_t row = 0; row < rows; ++row)
      std::memset(rowOf(destination, row, slice), value, width);
  return Status::Success;
}

} // namespace mneme::cpu_runtime
