// Room emulator/runtimes: arrays, which textures and surfaces read. Their elements lie in device
// memory, row after row.
#pragma once

#include <memory>

#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/types.h"

namespace mneme::cpu_runtime {

struct Array {
  ChannelFormatDesc format;
  Extent extent; ///< as given by the program; 0: the array does not have this dimension
  unsigned flags = 0;
  char* memory = nullptr;

  size_t elementBytes() const noexcept {
    return static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  size_t rowBytes() const noexcept { return extent.width * elementBytes(); }
  size_t rows() const noexcept { return extent.height ? extent.height : 1; }
  size_t slices() const noexcept { return extent.depth ? extent.depth : 1; }
  size_t sliceBytes() const noexcept { return rowBytes() * rows(); }
  size_t bytes() const noexcept { return sliceBytes() * slices(); }
};

/// Registers an array and returns its handle. All functions here are thread-safe.
void* addArray(std::shared_ptr<Array> array);
/// Returns null if `handle` is not an array.
std::shared_ptr<Array> findArray(void* handle);
bool removeArray(void* handle);

/// Replaces the arrays in the parameters of a copy with their memory. Returns InvalidValue for a
/// handle that is not an array and for a range outside the array.
Status resolveArrays(Memcpy3DParms& params);

} // namespace mneme::cpu_runtime
