// Room emulator/lowering: how a module is lowered.
#pragma once

#include <string>

namespace mneme::compile {

struct CpuLoweringOptions {
  std::string kernel;          ///< mangled name; the module holds its definition
  unsigned arch = 90;          ///< number in "sm_90": what __CUDA_ARCH__ was
  bool flushDenormals = false; ///< single precision denormals become zero
  bool preciseDivision = true; ///< as `__nvvm_reflect("__CUDA_PREC_DIV")` sees it
  bool preciseSqrt = true;     ///< as `__nvvm_reflect("__CUDA_PREC_SQRT")` sees it
  bool fibersOnly = false;     ///< no phases, only fibers or sequential threads
  std::string targetCpu;       ///< "target-cpu" of every function; empty: none
  std::string targetFeatures;  ///< "target-features" of every function; empty: none
};

} // namespace mneme::compile
