// Room compiler/ir: provides what LLVM's pass `structurizecfg` relies on but does not ensure
// itself.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Analysis.h>
#include <llvm/IR/PassManager.h>

#include <string>

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace mneme::ir {

/// Splits critical edges of functions with irreducible control flow; others are unchanged. In LLVM
/// 22, but not in 19, `fix-irreducible` drops values if one edge of a branch leads to the block
/// that becomes the loop's header and the other to another block of the loop (ControlFlowHub,
/// llvm/lib/Transforms/Utils/ControlFlowUtils.cpp): broken IR, or wrong code.
class SplitIrreduciblePass : public llvm::PassInfoMixin<SplitIrreduciblePass> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Returns a pipeline with the passes that `structurizecfg` relies on before each of its
/// occurrences. Alone it treats every terminator as a branch, and code with a switch silently
/// becomes wrong (LLVM 19 to 22; AMDGPU's own pipeline runs the same passes before it,
/// llvm/lib/Target/AMDGPU/AMDGPUTargetMachine.cpp).
std::string withWhatPassesNeed(llvm::StringRef passes);

/// Registers the passes that `withWhatPassesNeed` inserts, for pipelines that `builder` parses.
void registerStructurizeNeeds(llvm::PassBuilder& builder);

} // namespace mneme::ir
