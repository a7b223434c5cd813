// relax-math: lets the passes behind it compute floating-point numbers in another order, fuse
// multiplications with additions, and multiply by reciprocals. Kernels become faster, and may round
// differently: a replay says by how much.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h> // since LLVM 22
#else
#include <llvm/Passes/PassPlugin.h>
#endif

using namespace llvm;

namespace {

// Said as --mllvm relax-math-reorders=false.
cl::opt<bool> reorders("relax-math-reorders", cl::init(true),
                       cl::desc("relax-math: sums may be computed in another order"));

FastMathFlags allowed() {
  FastMathFlags flags;
  flags.setAllowContract(true);
  flags.setAllowReciprocal(true);
  flags.setAllowReassoc(reorders);
  return flags;
}

struct RelaxMath : PassInfoMixin<RelaxMath> {
  PreservedAnalyses run(Function& function, FunctionAnalysisManager&) {
    bool isChanged = false;
    for (Instruction& instruction : instructions(function)) {
      if (!isa<FPMathOperator>(instruction))
        continue;
      instruction.setFastMathFlags(allowed());
      isChanged = true;
    }
    return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

bool parse(StringRef name, FunctionPassManager& manager, ArrayRef<PassBuilder::PipelineElement>) {
  if (name != "relax-math")
    return false;
  manager.addPass(RelaxMath());
  return true;
}

} // namespace

extern "C" PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "RelaxMath", "1.0",
          [](PassBuilder& builder) { builder.registerPipelineParsingCallback(parse); }};
}
