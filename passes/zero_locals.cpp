#include "passes/zero_locals.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>

#include "passes/device_module.h"
#include "passes/local_lifetime.h"
#include "passes/unset_trial.h"

namespace mneme::passes {
namespace {

bool hasKnownSize(const llvm::AllocaInst& variable, const llvm::DataLayout& layout) {
  const std::optional<llvm::TypeSize> size = variable.getAllocationSize(layout);
  return size && size->isFixed();
}

/// What clang makes for the arguments of a printf(): set, all but its padding, just before the
/// call.
bool isPrintBuffer(const llvm::AllocaInst& variable) {
  return llvm::any_of(variable.users(), [&](const llvm::User* user) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName() == "vprintf" && call->arg_size() == 2 &&
           call->getArgOperand(1) == &variable;
  });
}

void markAsAutoInit(llvm::Instruction& instruction) {
  llvm::LLVMContext& context = instruction.getContext();
  instruction.setMetadata(llvm::LLVMContext::MD_annotation,
                          llvm::MDNode::get(context, {llvm::MDString::get(context, "auto-init")}));
}

/// Where code goes that comes behind `beginning`: behind all variables, if that is one of them.
llvm::BasicBlock::iterator placeBehind(llvm::Instruction& beginning) {
  llvm::BasicBlock::iterator place = std::next(beginning.getIterator());
  if (llvm::isa<llvm::AllocaInst>(beginning))
    while (llvm::isa<llvm::AllocaInst>(*place))
      ++place;
  return place;
}

/// The bytes of a variable, also of one whose size is only known when it is made.
llvm::Value* sizeOf(const llvm::AllocaInst& variable, llvm::IRBuilder<>& builder) {
  const llvm::DataLayout& layout = variable.getModule()->getDataLayout();
  llvm::Value* each =
      builder.getInt64(layout.getTypeAllocSize(variable.getAllocatedType()).getFixedValue());
  return builder.CreateMul(
      each,
      builder.CreateZExt(const_cast<llvm::Value*>(variable.getArraySize()), builder.getInt64Ty()));
}

void setToZero(llvm::AllocaInst& variable) {
  llvm::Type* type = variable.getAllocatedType();
  for (llvm::Instruction* beginning : beginningsOf(variable)) {
    const llvm::BasicBlock::iterator place = placeBehind(*beginning);
    llvm::IRBuilder<> builder(place->getParent(), place);
    builder.SetCurrentDebugLocation(beginning->getDebugLoc());
    if (type->isSingleValueType() && !variable.isArrayAllocation())
      markAsAutoInit(*builder.CreateAlignedStore(llvm::Constant::getNullValue(type), &variable,
                                                 variable.getAlign()));
    else
      markAsAutoInit(*builder.CreateMemSet(&variable, builder.getInt8(0), sizeOf(variable, builder),
                                           variable.getAlign()));
  }
}

void remark(llvm::AllocaInst& variable) {
  const llvm::Function& function = *variable.getFunction();
  llvm::OptimizationRemark words("mneme", "UnsetLocal", &variable);
  words << ("mneme: '" + readableName(function.getName()) + "' may read '" +
            (variable.hasName() ? variable.getName().str() : "a variable") +
            "' before it is set: it is set to zero");
  function.getContext().diagnose(words);
}

} // namespace

bool zeroLocals(llvm::Module& module) {
  if (!isDeviceModule(module))
    return false;
  llvm::SmallVector<llvm::AllocaInst*> unset;      // certainly, as far as is known
  llvm::SmallVector<llvm::AllocaInst*> candidates; // for a trial
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !isLibraryFunction(function))
      for (llvm::Instruction& instruction : llvm::instructions(function))
        if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
            variable && !isSetFirst(*variable) && !isPrintBuffer(*variable))
          (hasKnownSize(*variable, module.getDataLayout()) ? candidates : unset)
              .push_back(variable);
  const llvm::BitVector isRead = readUnset(module, candidates);
  for (const unsigned index : isRead.set_bits())
    unset.push_back(candidates[index]);
  for (llvm::AllocaInst* variable : unset) {
    remark(*variable);
    setToZero(*variable);
  }
  return !unset.empty();
}

llvm::PreservedAnalyses ZeroLocalsPass::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  return zeroLocals(module) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
