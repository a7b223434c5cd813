#include "runtime/compiler/ir/closure_calls.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "runtime/compiler/ir/closure_content.h"
#include "runtime/compiler/ir/pipeline_runner.h"

namespace mneme::ir {
namespace {

constexpr size_t kMostInlined = 1024;

template <typename Wanted>
llvm::SmallVector<llvm::CallBase*> callsWhere(llvm::Function& function, const Wanted& wanted) {
  llvm::SmallVector<llvm::CallBase*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        call && call->getCalledFunction() && wanted(*call->getCalledFunction()))
      calls.push_back(call);
  return calls;
}

struct SplitLocals : llvm::PassInfoMixin<SplitLocals> {
  llvm::Function* function;
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager) {
    auto& functions =
        manager.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module).getManager();
    llvm::SROAPass(llvm::SROAOptions::PreserveCFG).run(*function, functions);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

class Exposer {
public:
  Exposer(llvm::Function& kernel, llvm::Function& callOperator, llvm::TargetMachine& machine)
      : kernel_(kernel), operator_(callOperator), machine_(machine) {}

  void inlineCallers() {
    const auto isBetween = [&](const llvm::Function& callee) {
      return &callee != &operator_ && reaches(callee, operator_);
    };
    bool isMore = true;
    while (isMore) {
      isMore = false;
      for (llvm::CallBase* call : callsWhere(kernel_, isBetween))
        isMore |= inlined(*call);
    }
  }

  bool inlined(llvm::CallBase& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee || callee->isDeclaration() || callee == &operator_ || callee == &kernel_ ||
        reaches(*callee, *callee) || count_ == kMostInlined)
      return false;
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(call, info).isSuccess())
      return false;
    ++count_;
    return true;
  }

  void splitLocals() {
    SplitLocals split;
    split.function = &kernel_;
    llvm::ModulePassManager passes;
    passes.addPass(std::move(split));
    PipelineRunner(machine_, llvm::PipelineTuningOptions())
        .run(*kernel_.getParent(), std::move(passes));
  }

private:
  llvm::Function& kernel_;
  llvm::Function& operator_;
  llvm::TargetMachine& machine_;
  size_t count_ = 0;
};

} // namespace

bool reaches(const llvm::Function& from, const llvm::Function& to) {
  llvm::SmallPtrSet<const llvm::Function*, 32> seen;
  llvm::SmallVector<const llvm::Function*> waiting{&from};
  while (!waiting.empty())
    for (const llvm::Instruction& instruction : llvm::instructions(*waiting.pop_back_val()))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (const llvm::Function* callee = call->getCalledFunction()) {
          if (callee == &to)
            return true;
          if (seen.insert(callee).second)
            waiting.push_back(callee);
        }
  return false;
}

llvm::SmallVector<llvm::CallBase*> callsIn(llvm::Function& kernel, llvm::Function& callOperator) {
  return callsWhere(kernel, [&](const llvm::Function& callee) { return &callee == &callOperator; });
}

void exposeClosureCalls(llvm::Function& kernel, llvm::Function& callOperator,
                        llvm::ArrayRef<ByteRange> fields, llvm::TargetMachine& machine) {
  const llvm::Argument* const closure = closureArgument(callOperator);
  if (!closure)
    return;
  Exposer exposer(kernel, callOperator, machine);
  bool isMore = true;
  while (isMore) {
    exposer.inlineCallers();
    exposer.splitLocals();
    ClosureContent content(kernel, callOperator);
    for (llvm::CallBase* call : callsIn(kernel, callOperator))
      for (const ByteRange& field : fields)
        (void)content.source(*call->getArgOperand(closure->getArgNo()),
                             static_cast<int64_t>(field.offset), field.sizeBytes);
    isMore = false;
    for (llvm::CallBase* call : content.obstacles())
      isMore |= exposer.inlined(*call);
  }
}

} // namespace mneme::ir
