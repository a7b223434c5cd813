// Room devices/cuda: arrays of the driver, and their content in memory as abi/texture_object.h
// says.
#pragma once

#include <optional>

#include "runtime/core/abi/texture_object.h"
#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::device::cuda {

/// An array, with mipmaps or without, which somebody else owns.
struct ArrayHandle {
  CUarray plain = nullptr;
  CUmipmappedArray mipmapped = nullptr;
};

/// Returns the shape of an array; nothing if the driver does not tell. The array's context is
/// current.
std::optional<ArrayShape> shapeOf(const Driver& driver, const ArrayHandle& array);

CUDA_ARRAY3D_DESCRIPTOR descriptorOf(const ArrayShape& shape);

enum class ArrayCopy : uint8_t { ToMemory, ToArray };

/// Queues copies between all of an array and the memory at `address`. \throws Error
void queueCopies(const Driver& driver, const ArrayHandle& array, const ArrayShape& shape,
                 CUdeviceptr address, ArrayCopy direction, CUstream stream);

} // namespace mneme::device::cuda
