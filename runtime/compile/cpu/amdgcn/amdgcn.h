// Room compile/cpu: the front for AMDGCN-flavoured modules (HIP programs). It turns what only AMD's
// back end knows into what the rest of the lowering works on: the special registers and services
// NVPTX-flavoured modules use too. Internal to this folder.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "runtime/compile/cpu/emit.h"
#include "runtime/compile/cpu/lower.h"

namespace mneme::compile::cpu {

/// What the module says about the device it was compiled for.
struct AmdgcnTraits {
  unsigned waveSize = 64;
  unsigned codeObject = 500;  ///< version times 100: where launch dimensions are read from
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
/// Gives a function that reads or writes textures or surfaces its body here. False for others.
bool defineAmdgcnImage(llvm::Function& function, llvm::StringRef name);
/// Local variables and kernel parameters get plain pointers; parameters passed by reference become
/// by-value ones. The module must have the host's data layout. Returns the kernel, which is new.
llvm::Function& flattenAmdgcnSpaces(llvm::Module& module, llvm::Function& kernel);
/// llvm.amdgcn.* and inline assembly. \throws Error{Unsupported}
void lowerAmdgcn(llvm::Module& module, const AmdgcnTraits& traits);
/// Numbers the wave operations in program order: operations of a loop before those behind it. Makes
/// lanes wait for each other before the next iteration of a loop in which some skip an operation.
void numberWaveOperations(llvm::Module& module, llvm::Function& kernel);

/// One call of an intrinsic.
struct AmdgcnCall {
  Emit& emit;
  llvm::CallInst& call;
  const AmdgcnTraits& traits;
  unsigned variant = 0; ///< the table entry's own number

  llvm::Value* operand(unsigned index) const { return call.getArgOperand(index); }
  llvm::Type* type() const { return call.getType(); }
  /// An operand that must be a constant. \throws Error{Unsupported}
  uint64_t constant(unsigned index) const;
};

/// Returns the call's replacement; null for calls without a result.
using AmdgcnHandler = llvm::Value* (*)(const AmdgcnCall&);

struct AmdgcnRule {
  const char* name; ///< without "llvm.amdgcn."; behind it only overloaded types may follow
  AmdgcnHandler handler;
  unsigned variant = 0;
};

llvm::ArrayRef<AmdgcnRule> amdgcnLaunchRules();
llvm::ArrayRef<AmdgcnRule> amdgcnArithmeticRules();
llvm::ArrayRef<AmdgcnRule> amdgcnIntegerRules();
llvm::ArrayRef<AmdgcnRule> amdgcnWaveRules();

/// Waits until `parties` (i64) threads of the grid, this among them, have come as often as it has.
void gridArrival(Emit& emit, llvm::Value* parties);

// Wave operations (wave.cpp), for library functions too.

/// All lanes that are here together; `operation` is a mneme_cpu_wave. Results of 64 bits.
llvm::Value* waveOperation(Emit& emit, unsigned operation, llvm::Value* value,
                           llvm::Value* operand);
/// The fences by which lanes of a wave wait for each other. Finds them only before
/// dropDeviceProperties.
llvm::SmallVector<llvm::FenceInst*> waveFences(llvm::Module& module);
/// Makes lanes wait there.
void waitAtFences(llvm::ArrayRef<llvm::FenceInst*> fences);
/// Lanes of which `predicate` (i1) is true.
llvm::Value* waveBallot(Emit& emit, llvm::Value* predicate);

} // namespace mneme::compile::cpu
