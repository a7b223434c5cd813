#include "runtime/compiler/module/variables_kernel.h"
#include "runtime/core/abi/variable_names.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "runtime/compiler/ir/compat.h"

namespace mneme::compile {
namespace {

constexpr unsigned kSharedSpace = 3;

bool isProgramVariable(const llvm::GlobalVariable& variable) {
  return variable.hasInitializer() && !variable.hasLocalLinkage() &&
         variable.getAddressSpace() != kSharedSpace && !variable.getName().starts_with("llvm.");
}

} // namespace

void addVariablesKernel(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false);
  llvm::Function* kernel =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kVariablesKernel, module);
  kernel->setCallingConv(compat::moduleTriple(module).isAMDGCN() ? llvm::CallingConv::AMDGPU_KERNEL
                                                                 : llvm::CallingConv::PTX_Kernel);
  for (const llvm::Function& other : module)
    for (const char* name : {"target-cpu", "target-features"})
      if (other.hasFnAttribute(name) && !kernel->hasFnAttribute(name))
        kernel->addFnAttr(other.getFnAttribute(name));
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", kernel));
  for (llvm::GlobalVariable& variable : module.globals())
    if (isProgramVariable(variable))
      builder.CreateStore(llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(&variable, pointer),
                          kernel->getArg(0), /*isVolatile=*/true);
  builder.CreateRetVoid();
}

} // namespace mneme::compile
