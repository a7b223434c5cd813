#include "runtime/devices/cuda/arrays.h"

#include <utility>

namespace mneme::device::cuda {
namespace {

constexpr unsigned kMostLevels = 32;

CUarray levelOf(const Driver& driver, const ArrayHandle& array, unsigned number) {
  CUarray level = array.plain;
  if (array.mipmapped)
    check(driver.cuMipmappedArrayGetLevel(&level, array.mipmapped, number),
          "asking for a level of an array");
  return level;
}

} // namespace

std::optional<ArrayShape> shapeOf(const Driver& driver, const ArrayHandle& array) {
  CUarray first = array.plain, other = nullptr;
  uint32_t levels = 0;
  if (array.mipmapped) {
    if (driver.cuMipmappedArrayGetLevel(&first, array.mipmapped, 0) != CUDA_SUCCESS)
      return std::nullopt;
    for (levels = 1; levels < kMostLevels && driver.cuMipmappedArrayGetLevel(
                                                 &other, array.mipmapped, levels) == CUDA_SUCCESS;)
      ++levels;
  }
  CUDA_ARRAY3D_DESCRIPTOR found;
  if (!first || driver.cuArray3DGetDescriptor(&found, first) != CUDA_SUCCESS)
    return std::nullopt;
  return ArrayShape{.width = found.Width,
                    .height = found.Height,
                    .depth = found.Depth,
                    .format = found.Format,
                    .channels = found.NumChannels,
                    .flags = found.Flags,
                    .levels = levels};
}

CUDA_ARRAY3D_DESCRIPTOR descriptorOf(const ArrayShape& shape) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  descriptor.Width = shape.width;
  descriptor.Height = shape.height;
  descriptor.Depth = shape.depth;
  descriptor.Format = shape.format;
  descriptor.NumChannels = shape.channels;
  descriptor.Flags = shape.flags;
  return descriptor;
}

void queueCopies(const Driver& driver, const ArrayHandle& array, const ArrayShape& shape,
                 CUdeviceptr address, ArrayCopy direction, CUstream stream) {
  const std::vector<ArrayPart> parts = partsOf(shape);
  for (unsigned number = 0; number < parts.size(); ++number) {
    const ArrayPart& part = parts[number];
    CUcopySide inArray, inMemory;
    inArray.memoryType = CU_MEMORYTYPE_ARRAY;
    inArray.array = levelOf(driver, array, number);
    inMemory.memoryType = CU_MEMORYTYPE_DEVICE;
    inMemory.device = address + part.offset;
    inMemory.pitch = part.rowBytes;
    inMemory.height = part.rows;
    const bool isToArray = direction == ArrayCopy::ToArray;
    const CUDA_MEMCPY3D copy{.src = isToArray ? inMemory : inArray,
                             .dst = isToArray ? inArray : inMemory,
                             .WidthInBytes = part.rowBytes,
                             .Height = part.rows,
                             .Depth = part.slices};
    check(driver.cuMemcpy3DAsync(&copy, stream), "copying an array");
  }
}

} // namespace mneme::device::cuda
