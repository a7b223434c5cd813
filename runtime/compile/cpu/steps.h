// Room compile/cpu: the steps of the lowering, in the order in which lower.cpp takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "runtime/compile/cpu/lower.h"

namespace llvm {
class TargetMachine;
}

namespace mneme::compile::cpu {

// Before inlining, on device functions.

/// Keeps only what `kernel` reaches; everything but the kernel and device variables is internal.
void keepReachable(llvm::Module& module, llvm::Function& kernel);
/// Answers __nvvm_reflect and folds the branches that depend on it.
void foldReflect(llvm::Module& module, const CpuLoweringOptions& options);
/// Puts `value` in the place of `instruction` and folds everything that becomes constant with it.
void foldTo(llvm::Instruction& instruction, llvm::Constant& value);
/// Removes what branches on constants never reach.
void dropDeadBranches(llvm::Function& function);
/// Removes what only means something to the NVPTX back end, and fast-math licences.
void dropDeviceProperties(llvm::Module& module, const CpuLoweringOptions& options);
/// Sets triple and data layout.
void setHostTarget(llvm::Module& module, const llvm::TargetMachine& machine);
/// Gives device math functions (`__nv_*`) host definitions where the host has the same function.
void replaceDeviceMath(llvm::Module& module);
/// printf, assert, malloc, free, trap.
void replaceVendorCalls(llvm::Module& module);
/// Operations whose edge cases a GPU defines and LLVM leaves open: shifts, integer division,
/// conversions to integers; single precision denormals where they are flushed.
/// `wrapsShifts`: amounts count modulo the width, else they saturate.
void defineEdgeCases(llvm::Module& module, bool flushDenormals, bool wrapsShifts);
/// llvm.nvvm.* but special registers. \throws Error{Unsupported}
void lowerNvvm(llvm::Module& module);
/// Inline PTX. \throws Error{Unsupported}
void lowerInlineAssembly(llvm::Module& module);
/// Scalar promotion, folding, control flow: what every later step relies on.
void cleanUp(llvm::Module& module);

// The kernel as one function.

/// Inlines device functions into the kernel. Recursive, address-taken and very large ones stay and
/// get the context as their first parameter, as have all indirect calls.
void inlineCalls(llvm::Module& module, llvm::Function& kernel);

struct KernelTraits {
  bool isLoop = false;
  bool mayRegroup = true; ///< threads may be executed in another order than one after the other
  bool isPhased = false;  ///< a loop between every two barriers
  bool hasBarrier = false;
  bool waits = false; ///< has a loop that only another thread can end
};
/// Decides how the kernel is run and makes waiting loops yield.
KernelTraits classify(llvm::Module& module, llvm::Function& kernel);

struct SharedLayout {
  uint64_t staticBytes = 0;
  uint64_t alignBytes = 16;
};
/// Places shared variables in the block's area, behind the context.
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
/// Puts device variables behind slots; image constants stay.
GlobalTable lowerGlobals(llvm::Module& module);

/// The values special registers are made of, available at one place.
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

/// Makes a body that is one strided loop execute only iteration number `iteration` (an integer) and
/// return whether there was one: its return type must be i1 then. False, and nothing changed, if
/// the body has another shape. With `onlyCheck` nothing is changed either.
bool isolateIteration(llvm::Function& body, llvm::Value* iteration, bool onlyCheck);

struct KernelEntry {
  llvm::Function* function = nullptr; ///< run_block or run_thread
  std::vector<uint64_t> argSizes;
  uint64_t localBytes = 0;
  uint64_t scratchBytes = 0; ///< for each thread of a block
};
/// Wraps the kernel's body: all threads of a block in a loop, or one thread.
KernelEntry buildEntry(llvm::Module& module, llvm::Function& kernel, const KernelTraits& traits,
                       const KernelFacts& facts);
/// Turns calls of the runtime into calls through the services table.
void lowerServices(llvm::Module& module);
/// Tells LLVM that the iterations of the thread loop are independent, where that can be shown.
void markParallel(llvm::Function& runBlock);

/// Exports `mneme_cpu_image`.
void emitImageHeader(llvm::Module& module, const std::string& kernelName, const KernelEntry& entry,
                     const KernelTraits& traits, unsigned warpSize, const SharedLayout& shared,
                     const GlobalTable& globals);

} // namespace mneme::compile::cpu
