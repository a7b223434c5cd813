#include "runtime/compiler/ir/structurize_needs.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/BreakCriticalEdges.h>

namespace mneme::ir {
namespace {

constexpr llvm::StringLiteral kStructurize = "structurizecfg";
constexpr llvm::StringLiteral kSplit = "mneme-split-irreducible";
constexpr llvm::StringLiteral kBefore =
    "lower-switch,mneme-split-irreducible,fix-irreducible,unify-loop-exits,";

bool isNameIn(llvm::StringRef passes, size_t begin, size_t end) {
  return (begin == 0 || llvm::StringRef(",(").contains(passes[begin - 1])) &&
         (end == passes.size() || llvm::StringRef(",)<").contains(passes[end]));
}

} // namespace

llvm::PreservedAnalyses SplitIrreduciblePass::run(llvm::Function& function,
                                                  llvm::FunctionAnalysisManager& analyses) {
  using Blocks = llvm::ReversePostOrderTraversal<const llvm::Function*>;
  const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  Blocks blocks(&function);
  if (!llvm::containsIrreducibleCFG<const llvm::BasicBlock*>(blocks, loops))
    return llvm::PreservedAnalyses::all();
  return llvm::BreakCriticalEdgesPass().run(function, analyses);
}

std::string withWhatPassesNeed(llvm::StringRef passes) {
  std::string text;
  size_t done = 0;
  for (size_t at = passes.find(kStructurize); at != llvm::StringRef::npos;
       at = passes.find(kStructurize, at + kStructurize.size())) {
    if (!isNameIn(passes, at, at + kStructurize.size()))
      continue;
    text.append(passes.slice(done, at)).append(kBefore);
    done = at;
  }
  return text.append(passes.substr(done));
}

void registerStructurizeNeeds(llvm::PassBuilder& builder) {
  // LLVM takes function passes in pipelines of modules and of calls, too.
  using Inner = llvm::ArrayRef<llvm::PassBuilder::PipelineElement>;
  builder.registerPipelineParsingCallback(
      [](llvm::StringRef name, llvm::FunctionPassManager& manager, Inner) {
        if (name == kSplit)
          manager.addPass(SplitIrreduciblePass());
        return name == kSplit;
      });
  builder.registerPipelineParsingCallback(
      [](llvm::StringRef name, llvm::CGSCCPassManager& manager, Inner) {
        if (name == kSplit)
          manager.addPass(llvm::createCGSCCToFunctionPassAdaptor(SplitIrreduciblePass()));
        return name == kSplit;
      });
  builder.registerPipelineParsingCallback(
      [](llvm::StringRef name, llvm::ModulePassManager& manager, Inner) {
        if (name == kSplit)
          manager.addPass(llvm::createModuleToFunctionPassAdaptor(SplitIrreduciblePass()));
        return name == kSplit;
      });
}

} // namespace mneme::ir
