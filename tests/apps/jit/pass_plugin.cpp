// An LLVM pass plugin: "jit-test-pass" names the functions it sees and halves constants that are 42.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/Support/raw_ostream.h>

namespace {

struct TestPass : llvm::PassInfoMixin<TestPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    llvm::outs() << "[JITTestPass] " << function.getName() << "\n";
    for (llvm::Instruction& instruction : llvm::instructions(function))
      for (llvm::Use& use : instruction.operands())
        if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(use); number && number->equalsInt(42))
          use.set(llvm::ConstantInt::get(number->getType(), 21));
    return llvm::PreservedAnalyses::none();
  }
};

} // namespace

extern "C" ::llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "JITTestPass", "1", [](llvm::PassBuilder& builder) {
            builder.registerPipelineParsingCallback(
                [](llvm::StringRef name, llvm::FunctionPassManager& manager,
                   llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
                  if (name != "jit-test-pass")
                    return false;
                  manager.addPass(TestPass());
                  return true;
                });
          }};
}
