// Room emulator/runtimes: copies bytes with the checks that vendors make.
#pragma once

#include <cstddef>

#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/types.h"

namespace mneme::cpu_runtime {

/// Returns InvalidValue for a null pointer, or a range that leaves its allocation or lies in freed
/// memory. Ranges may overlap. Foreign memory is assumed to be valid, because a CPU can access any
/// address.
Status copyBytes(void* destination, const void* source, size_t bytes);

/// Copies `rows` rows of `width` bytes in `slices` slices. Returns InvalidPitchValue if a pitch is
/// smaller than the width.
struct Block3D {
  void* base = nullptr;
  size_t pitch = 0;
  size_t slicePitch = 0;
};
Status copyBlock(const Block3D& destination, const Block3D& source, size_t width, size_t rows,
                 size_t slices);
Status fillBlock(const Block3D& destination, int value, size_t width, size_t rows, size_t slices);
/// Copies with the API's parameters; arrays are not supported.
Status copyVolume(const Memcpy3DParms& params);

} // namespace mneme::cpu_runtime
