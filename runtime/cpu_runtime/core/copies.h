// Room cpu_runtime: moving bytes with the checks that vendors make.
#pragma once

#include <cstddef>

#include "runtime/cpu_runtime/core/status.h"
#include "runtime/cpu_runtime/core/types.h"

namespace mneme::cpu_runtime {

/// InvalidValue for a null pointer, a range that leaves its allocation or lies in freed memory.
/// Ranges may overlap. Foreign memory is taken as valid: on a CPU every address is.
Status copyBytes(void* destination, const void* source, size_t bytes);

/// The same for `rows` rows of `width` bytes in `slices` slices. A pitch smaller than the width is
/// InvalidPitchValue.
struct Block3D {
  void* base = nullptr;
  size_t pitch = 0;
  size_t slicePitch = 0;
};
Status copyBlock(const Block3D& destination, const Block3D& source, size_t width, size_t rows,
                 size_t slices);
Status fillBlock(const Block3D& destination, int value, size_t width, size_t rows, size_t slices);
/// Parameters as the API has them; arrays are not supported.
Status copyVolume(const Memcpy3DParms& params);

} // namespace mneme::cpu_runtime
