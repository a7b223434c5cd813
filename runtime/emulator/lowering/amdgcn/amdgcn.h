// Room emulator/lowering: the first stage for AMDGCN-flavoured modules (HIP programs). It converts
// constructs of AMD's back end to the special registers and services that NVPTX-flavoured modules
// also use, for the rest of the lowering. Internal to this folder.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/lowering_options.h"

namespace mneme::compile::cpu {

/// Facts in the module about the device that it was compiled for.
struct AmdgcnTraits {
  unsigned waveSize = 64;
  unsigned codeObject =
      500; ///< version times 100; determines where launch dimensions are read from
  unsigned isaVersion = 9000; ///< gfx90a: 9010
};

bool isAmdgcn(const llvm::Module& module);
AmdgcnTraits readAmdgcnTraits(const llvm::Module& module, const llvm::Function& kernel);

/// Gives the vendor's device libraries (`__ocml_*`, `__ockl_*`) host definitions where the host or
/// the runtime has the same function, and their settings (`__oclc_*`) values. Other functions keep
/// their bodies.
void replaceAmdgcnLibraries(llvm::Module& module, const AmdgcnTraits& traits,
                            const CpuLoweringOptions& options);
void replaceAmdgcnMath(llvm::Module& module);
/// Replaces the body of a function that reads or writes textures or surfaces. Returns false for
/// other functions.
bool defineAmdgcnImage(llvm::Function& function, llvm::StringRef name);
/// Gives local variables and kernel parameters plain pointers, and passes by-reference parameters
/// by value. The module must have the host's data layout. Returns the kernel, which is new.
llvm::Function& flattenAmdgcnSpaces(llvm::Module& module, llvm::Function& kernel);
/// Lowers llvm.amdgcn.* and inline assembly. \throws Error{Unsupported}
void lowerAmdgcn(llvm::Module& module, const AmdgcnTraits& traits);
/// Numbers the wave operations in program order: operations in a loop before those after it. Makes
/// lanes wait for each other before the next iteration of a loop in which some lanes skip an
/// operation.
void numberWaveOperations(llvm::Module& module, llvm::Function& kernel);

/// One call of an intrinsic.
struct AmdgcnCall {
  Emit& emit;
  llvm::CallInst& call;
  const AmdgcnTraits& traits;
  unsigned variant = 0; ///< the table entry's own number

  llvm::Value* operand(unsigned index) const { return call.getArgOperand(index); }
  llvm::Type* type() const { return call.getType(); }
  /// Returns an operand that must be a constant. \throws Error{Unsupported}
  uint64_t constant(unsigned index) const;
};

/// Returns the call's replacement; null for calls without a result.
using AmdgcnHandler = llvm::Value* (*)(const AmdgcnCall&);

struct AmdgcnRule {
  const char* name; ///< without "llvm.amdgcn."; only overloaded types may follow
  AmdgcnHandler handler;
  unsigned variant = 0;
};

llvm::ArrayRef<AmdgcnRule> amdgcnLaunchRules();
llvm::ArrayRef<AmdgcnRule> amdgcnArithmeticRules();
llvm::ArrayRef<AmdgcnRule> amdgcnIntegerRules();
llvm::ArrayRef<AmdgcnRule> amdgcnWaveRules();

/// Waits until `parties` (i64) threads of the grid, including this one, have arrived as often as
/// this one.
void gridArrival(Emit& emit, llvm::Value* parties);

// Wave operations (wave.cpp), also for library functions.

/// Runs an operation of all converged lanes; `operation` is a mneme_cpu_wave. The result has 64
/// bits.
llvm::Value* waveOperation(Emit& emit, unsigned operation, llvm::Value* value,
                           llvm::Value* operand);
/// Returns the fences at which lanes of a wave wait for each other. They only exist before
/// dropDeviceProperties().
llvm::SmallVector<llvm::FenceInst*> waveFences(llvm::Module& module);
/// Makes lanes wait at the fences.
void waitAtFences(llvm::ArrayRef<llvm::FenceInst*> fences);
/// Returns the lanes whose `predicate` (i1) is true.
llvm::Value* waveBallot(Emit& emit, llvm::Value* predicate);

} // namespace mneme::compile::cpu
