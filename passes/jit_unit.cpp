#include "passes/jit_unit.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "passes/device_module.h"
#include "passes/jit_marks.h"

namespace mneme::passes {
namespace {

// include/proteus/JitInterface.h
constexpr llvm::StringLiteral kHeaderVariable = "_ZN7proteus6detailL16UsesJitInterfaceE";
// Before the program's own constructors, behind those that register kernels.
constexpr int kConstructorPriority = 102;

bool takeHeaderVariable(llvm::Module& module) {
  llvm::GlobalVariable* variable = module.getNamedGlobal(kHeaderVariable);
  if (!variable)
    return false;
  llvm::removeFromUsedLists(
      module, [&](llvm::Constant* used) { return used->stripPointerCasts() == variable; });
  if (variable->use_empty())
    variable->eraseFromParent();
  return true;
}

} // namespace

bool noteJitUnit(llvm::Module& module, bool marksAll) {
  if (isDeviceModule(module) || module.getFunction("__mneme_jit_expect"))
    return false;
  const bool includesHeader = takeHeaderVariable(module);
  if (!includesHeader && !marksAll && annotatedFunctions(module).empty())
    return false;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* none = llvm::Type::getVoidTy(context);
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(none, false),
                             llvm::GlobalValue::InternalLinkage, "__mneme_jit_expect", module);
  function->setUWTableKind(llvm::UWTableKind::Default);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  builder.CreateCall(module.getOrInsertFunction("mneme_jit_expect", none));
  builder.CreateRetVoid();
  llvm::appendToGlobalCtors(module, function, kConstructorPriority);
  return true;
}

llvm::PreservedAnalyses NoteJitUnitPass::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  return noteJitUnit(module, marksAll_) ? llvm::PreservedAnalyses::none()
                                        : llvm::PreservedAnalyses::all();
}

} // namespace mneme::passes
