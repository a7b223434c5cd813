// Room emulator/lowering: the steps of the lowering, in the order in which lower_for_cpu.cpp runs
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/lowering_options.h"

namespace llvm {
class TargetMachine;
}

namespace mneme::compile::cpu {

// Before inlining, on device functions.

/// Keeps only what `kernel` uses and makes everything but the kernel and device variables internal.
void keepReachable(llvm::Module& module, llvm::Function& kernel);
/// Replaces __nvvm_reflect by its value and folds the branches that depend on it.
void foldReflect(llvm::Module& module, const CpuLoweringOptions& options);
/// Replaces `instruction` by `value` and folds everything that becomes constant as a result.
void foldTo(llvm::Instruction& instruction, llvm::Constant& value);
/// Removes code that is unreachable because of constant branches.
void dropDeadBranches(llvm::Function& function);
/// Removes fast-math flags and everything that only concerns the NVPTX back end.
void dropDeviceProperties(llvm::Module& module, const CpuLoweringOptions& options);
/// Sets triple and data layout.
void setHostTarget(llvm::Module& module, const llvm::TargetMachine& machine);
/// Gives device math functions (`__nv_*`) host definitions where the host has the same function.
void replaceDeviceMath(llvm::Module& module);
/// Replaces printf, assert, malloc, free and trap.
void replaceVendorCalls(llvm::Module& module);
/// Defines the edge cases that GPUs define and LLVM leaves undefined: shifts, integer division,
/// conversions to integers, and flushed single-precision denormals. `wrapsShifts`: shift amounts
/// are taken modulo the width; otherwise they saturate.
void defineEdgeCases(llvm::Module& module, bool flushDenormals, bool wrapsShifts);
/// Lowers llvm.nvvm.* except special registers. \throws Error{Unsupported}
void lowerNvvm(llvm::Module& module);
/// Lowers inline PTX. \throws Error{Unsupported}
void lowerInlineAssembly(llvm::Module& module);

// The kernel as one function.

/// Inlines device functions into the kernel. Recursive, address-taken and very large functions are
/// kept and get the context as their first parameter, as do all indirect calls.
void inlineCalls(llvm::Module& module, llvm::Function& kernel);

/// Makes the lanes of a warp wait for each other where the kernel relies on their running in
/// lockstep. Returns whether it does.
bool keepInStep(llvm::Function& kernel, unsigned warpSize);

struct KernelTraits {
  bool isLoop = false;
  bool mayRegroup = true; ///< threads may be executed in another order than sequentially
  bool isPhased = false;  ///< a loop between every two barriers
  bool hasBarrier = false;
  bool waits = false; ///< has a loop that only another thread can end
};
/// Decides how the kernel is run and makes waiting loops yield.
KernelTraits classify(llvm::Module& module, llvm::Function& kernel);

struct SharedLayout {
  uint64_t staticBytes = 0;
  uint64_t alignBytes = 16;
  bool hasBarrier = false; ///< after which threads find the memory initialised
};
/// Places shared variables in the block's area, after the context.
SharedLayout lowerSharedMemory(llvm::Module& module, llvm::Function& kernel);

struct GlobalTable {
  struct Entry {
    std::string name;
    uint64_t sizeBytes = 0;
    uint64_t alignBytes = 1;
    bool isConstant = false;
    bool isDefined = true;
    llvm::GlobalVariable* slot = nullptr;
    llvm::GlobalVariable* initializer = nullptr; ///< null: zero
  };
  struct Relocation {
    uint32_t global = 0;
    uint32_t target = 0;
    uint64_t offset = 0;
    int64_t addend = 0;
  };
  std::vector<Entry> entries;
  std::vector<Relocation> relocations;
  uint64_t constantBytes = 0;
};
/// Makes device variables accessible through slots; constants of the image are kept.
GlobalTable lowerGlobals(llvm::Module& module);

/// The values from which special registers are computed.
struct ThreadValues {
  llvm::Value* context = nullptr;
  llvm::Value* thread[3] = {};
  llvm::Value* block[3] = {};
  llvm::Value* blockSize[3] = {};
  llvm::Value* gridSize[3] = {};
};
/// What some special registers say about the kernel.
struct KernelFacts {
  uint64_t staticSharedBytes = 0;
  unsigned warpSize = 32;
};
/// Replaces the special registers of `function`. With `values` null they are read from the context,
/// the function's first parameter. \throws Error{Unsupported}
void resolveSpecialRegisters(llvm::Function& function, const ThreadValues* values,
                             const KernelFacts& facts);

/// Makes a body that consists of one strided loop execute only iteration `iteration` (an integer)
/// and return whether another iteration may follow; its return type must be i1. Returns false and
/// changes nothing if the body has another shape. With `onlyCheck` nothing is changed either.
bool isolateIteration(llvm::Function& body, llvm::Value* iteration, bool onlyCheck);

struct KernelEntry {
  llvm::Function* function = nullptr; ///< run_block or run_thread
  std::vector<uint64_t> argSizes;
  uint64_t localBytes = 0;
  uint64_t scratchBytes = 0;               ///< for each thread of a block
  std::vector<mneme_cpu_meeting> meetings; ///< of blocks in rounds whose lanes meet
  uint64_t laneOffset = 0;                 ///< see mneme_cpu_image_header
};
/// Wraps the kernel's body to run all threads of a block in a loop, or one thread.
KernelEntry buildEntry(llvm::Module& module, llvm::Function& kernel, const KernelTraits& traits,
                       const KernelFacts& facts);
/// Turns calls of the runtime into calls through the services table.
void lowerServices(llvm::Module& module);
/// Marks the iterations of the thread loop as independent where that is proven.
void markParallel(llvm::Function& runBlock);

/// Exports `mneme_cpu_image`.
void emitImageHeader(llvm::Module& module, const std::string& kernelName, const KernelEntry& entry,
                     const KernelTraits& traits, unsigned warpSize, const SharedLayout& shared,
                     const GlobalTable& globals);

} // namespace mneme::compile::cpu
