// A pass plugin with faults, each a pass of its own, which tests plant into pipelines.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif

using namespace llvm;

namespace {

cl::opt<unsigned> times("planted-times", cl::init(2000), cl::desc("How much work to add"));

template <typename Found> bool eraseAll(Module& module, Found found) {
  SmallVector<Instruction*> erased;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (found(instruction))
        erased.push_back(&instruction);
  for (Instruction* instruction : erased)
    instruction->eraseFromParent();
  return !erased.empty();
}

/// Whether it stores a number that the kernel computes into memory that others see.
bool isResult(const Instruction& instruction) {
  const auto* store = dyn_cast<StoreInst>(&instruction);
  return store && store->getValueOperand()->getType()->isFloatingPointTy() &&
         !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
}

bool isBarrier(const Instruction& instruction) {
  const auto* call = dyn_cast<CallInst>(&instruction);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().contains("barrier") && call->getType()->isVoidTy();
}

/// Counts in a variable at the start of every function, which no optimisation may leave out.
bool addWork(Module& module) {
  for (Function& function : module) {
    if (function.isDeclaration())
      continue;
    BasicBlock& entry = function.getEntryBlock();
    IRBuilder<> builder(&*entry.getFirstNonPHIOrDbgOrAlloca());
    AllocaInst* counter = builder.CreateAlloca(builder.getInt32Ty());
    for (unsigned count = 0; count < times; ++count)
      builder.CreateStore(
          builder.CreateAdd(builder.CreateLoad(builder.getInt32Ty(), counter, /*isVolatile=*/true),
                            builder.getInt32(1)),
          counter, /*isVolatile=*/true);
  }
  return true;
}

/// A pass that does `Action`.
template <bool (*Action)(Module&)> struct Planted : PassInfoMixin<Planted<Action>> {
  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    return Action(module) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

bool nothing(Module&) { return false; }
bool dropStores(Module& module) { return eraseAll(module, isResult); }
bool dropBarriers(Module& module) { return eraseAll(module, isBarrier); }
bool crash(Module&) {
  int* volatile nowhere = nullptr;
  return *nowhere != 0;
}
bool loopForEver(Module& module) {
  for (volatile bool goesOn = true; goesOn;)
    ;
  return module.empty();
}

bool talk(Module& module) {
  outs() << "planted counts " << module.size() << " functions\n";
  errs() << "planted complains\n";
  return false;
}

bool parse(StringRef name, ModulePassManager& manager, ArrayRef<PassBuilder::PipelineElement>) {
  if (name == "planted-nothing")
    manager.addPass(Planted<nothing>());
  else if (name == "planted-drop-stores")
    manager.addPass(Planted<dropStores>());
  else if (name == "planted-drop-barriers")
    manager.addPass(Planted<dropBarriers>());
  else if (name == "planted-slow")
    manager.addPass(Planted<addWork>());
  else if (name == "planted-crash")
    manager.addPass(Planted<crash>());
  else if (name == "planted-for-ever")
    manager.addPass(Planted<loopForEver>());
  else if (name == "planted-talk")
    manager.addPass(Planted<talk>());
  else
    return false;
  return true;
}

} // namespace

extern "C" PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Planted", "1",
          [](PassBuilder& builder) { builder.registerPipelineParsingCallback(parse); }};
}
