// Room emulator/lowering: turns a linked NVPTX-flavoured module into host IR that exports
// `mneme_cpu_image` (contract: runtime/core/abi/cpu_image.h). Runs before the user's pipeline and
// makes no assumption about it: every pipeline, even an empty one, gives a working image.
#pragma once

#include <cstdint>

#include "runtime/emulator/lowering/lowering_options.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mneme::compile {

struct CpuLoweringResult {
  bool isLoop = false;     ///< exports run_block, else run_thread
  bool hasBarrier = false; ///< holds a block-wide barrier
  uint64_t staticSharedBytes = 0;
  uint64_t sharedAlignBytes = 16;
  uint64_t constantBytes = 0; ///< constant globals, in the image or accessed through slots
  uint64_t localBytes = 0;    ///< estimate for one thread, 0 if unknown
};

/// Rewrites `module` in place. Afterwards it has the triple and data layout of `machine`, holds one
/// externally visible symbol, `mneme_cpu_image`, and refers to nothing but libm and libc. The
/// module must contain every function the kernel calls (libdevice linked in) and must be valid IR.
/// Code that the kernel does not reach is removed. On failure the module is left in an unspecified
/// but destructible state.
/// \throws Error{NotFound}    when the kernel is not defined in the module
/// \throws Error{Unsupported} naming an intrinsic, a PTX instruction or an undefined function the
///                            kernel reaches and this translation does not know
/// \throws Error{Internal}    when the result does not pass LLVM's verifier
CpuLoweringResult lowerToCpu(llvm::Module& module, const llvm::TargetMachine& machine,
                             const CpuLoweringOptions& options);

namespace cpu {
/// Promotes to scalars, folds and simplifies control flow: a step of the lowering, also for callers
/// that change the module before it.
void cleanUp(llvm::Module& module);
} // namespace cpu

} // namespace mneme::compile
