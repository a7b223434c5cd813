// Room ir: what LLVM's pass `structurizecfg` relies on and does not look after by itself.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Analysis.h>
#include <llvm/IR/PassManager.h>

#include <string>

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace mneme::ir {

/// Splits critical edges of functions with irreducible control flow, and leaves the others as they
/// are. In LLVM 22, not in 19, `fix-irreducible` drops values where one edge of a branch leads to
/// the block that becomes the loop's header and the other into another block of the loop
/// (ControlFlowHub, llvm/lib/Transforms/Utils/ControlFlowUtils.cpp): broken IR, or wrong code.
class SplitIrreduciblePass : public llvm::PassInfoMixin<SplitIrreduciblePass> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// A pipeline with the passes that `structurizecfg` relies on in front of it, wherever it stands.
/// Alone it takes every terminator for a branch, and code with a switch becomes wrong without a
/// word (LLVM 19 to 22; AMDGPU's own pipeline runs the same passes before it,
/// llvm/lib/Target/AMDGPU/AMDGPUTargetMachine.cpp).
std::string withWhatPassesNeed(llvm::StringRef passes);

/// Makes pipelines that `builder` parses know what `withWhatPassesNeed` puts into them.
void registerStructurizeNeeds(llvm::PassBuilder& builder);

} // namespace mneme::ir
