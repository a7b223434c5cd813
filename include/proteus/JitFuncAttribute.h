// Attributes of kernels that are made at run time.
#pragma once

namespace proteus {

enum class JitFuncAttribute {
  MaxDynamicSharedMemorySize = 8, ///< bytes; the number that CUDA and HIP give it
};

} // namespace proteus
