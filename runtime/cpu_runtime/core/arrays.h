// Room cpu_runtime: arrays, what textures and surfaces read. Their elements lie in device memory,
// row behind row.
#pragma once

#include <memory>

#include "runtime/cpu_runtime/core/status.h"
#include "runtime/cpu_runtime/core/types.h"

namespace mneme::cpu_runtime {

struct Array {
  ChannelFormatDesc format;
  Extent extent; ///< as the program gave it: 0 stands for a dimension it has not
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

/// The handle of an array, from now on known. Thread-safe, as everything here.
void* addArray(std::shared_ptr<Array> array);
/// Null for what is no array.
std::shared_ptr<Array> findArray(void* handle);
bool removeArray(void* handle);

/// Puts their memory in the place of the arrays of a copy. InvalidValue for what is no array and
/// for parts outside it.
Status resolveArrays(Memcpy3DParms& params);

} // namespace mneme::cpu_runtime
