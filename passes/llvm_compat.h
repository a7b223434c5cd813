// Room passes: differences between LLVM 19 and 22. The only header here with conditions on the LLVM
// version.
#pragma once

#include <llvm/Config/llvm-config.h>
#if LLVM_VERSION_MAJOR >= 22
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/IR/CallingConv.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/TargetParser/Triple.h>

namespace mneme::passes::compat {

inline llvm::Triple moduleTriple(const llvm::Module& module) {
  return llvm::Triple(module.getTargetTriple());
}

/// Calls `addPasses(manager, level)` at the start of every pipeline, -O0 included.
template <typename AddPasses>
void registerAtPipelineStart(llvm::PassBuilder& builder, AddPasses addPasses) {
  builder.registerPipelineStartEPCallback(
      [addPasses](llvm::ModulePassManager& manager, llvm::OptimizationLevel level) {
        addPasses(manager, level);
      });
}

/// Limit of registers per thread of an NVPTX kernel: an attribute since LLVM 21, an annotation before.
inline void setMaxRegisters(llvm::Function& kernel, uint32_t registers) {
#if LLVM_VERSION_MAJOR >= 21
  kernel.addFnAttr("nvvm.maxnreg", std::to_string(registers));
#else
  llvm::LLVMContext& context = kernel.getContext();
  auto* value = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), registers);
  kernel.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(
          context, {llvm::ValueAsMetadata::get(&kernel), llvm::MDString::get(context, "maxnreg"),
                    llvm::ConstantAsMetadata::get(value)}));
#endif
}

} // namespace mneme::passes::compat
