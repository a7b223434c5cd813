// Room compile: differences between LLVM 19 and 22. The only header with conditions on the LLVM
// version; everything else is written against what this one offers.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>
#include <string>

namespace mneme::compile::compat {

inline llvm::Triple moduleTriple(const llvm::Module& module) {
  return llvm::Triple(module.getTargetTriple());
}

inline void setModuleTriple(llvm::Module& module, const llvm::Triple& triple) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(triple);
#else
  module.setTargetTriple(triple.str());
#endif
}

inline const llvm::Target* lookupTarget(const llvm::Triple& triple, std::string& message) {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::TargetRegistry::lookupTarget(triple, message);
#else
  return llvm::TargetRegistry::lookupTarget(triple.str(), message);
#endif
}

inline std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const llvm::Target& target, const llvm::Triple& triple, llvm::StringRef cpu,
                    llvm::StringRef features, const llvm::TargetOptions& options,
                    llvm::CodeGenOptLevel level) {
#if LLVM_VERSION_MAJOR >= 21
  const llvm::Triple& name = triple;
#else
  const std::string& name = triple.str();
#endif
  return std::unique_ptr<llvm::TargetMachine>(target.createTargetMachine(
      name, cpu, features, options, llvm::Reloc::PIC_, std::nullopt, level));
}

inline void setKernelAnnotation(llvm::Function& kernel, llvm::StringRef name, uint32_t value) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::NamedMDNode* annotations = kernel.getParent()->getOrInsertNamedMetadata("nvvm.annotations");
  annotations->addOperand(llvm::MDNode::get(
      context, {llvm::ValueAsMetadata::get(&kernel), llvm::MDString::get(context, name),
                llvm::ConstantAsMetadata::get(
                    llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value))}));
}

/// Launch bounds of an NVPTX kernel: attributes since LLVM 21, annotations before.
inline void setMaxThreads(llvm::Function& kernel, uint32_t threads) {
#if LLVM_VERSION_MAJOR >= 21
  kernel.addFnAttr("nvvm.maxntid", std::to_string(threads));
#else
  setKernelAnnotation(kernel, "maxntidx", threads);
#endif
}

inline void setMinBlocks(llvm::Function& kernel, uint32_t blocks) {
#if LLVM_VERSION_MAJOR >= 21
  kernel.addFnAttr("nvvm.minctasm", std::to_string(blocks));
#else
  setKernelAnnotation(kernel, "minctasm", blocks);
#endif
}

/// May anybody learn this address by other ways than the function's result?
inline bool mayBeCaptured(const llvm::Value* pointer) {
#if LLVM_VERSION_MAJOR >= 21
  return llvm::PointerMayBeCaptured(pointer, /*ReturnCaptures=*/false);
#else
  return llvm::PointerMayBeCaptured(pointer, /*ReturnCaptures=*/false, /*StoreCaptures=*/true);
#endif
}

/// The larger (or smaller) of two numbers; a NaN only if both are. -0.0 is less than 0.0.
inline llvm::Value* minMaxNumber(llvm::IRBuilderBase& builder, bool isMax, llvm::Value* a,
                                 llvm::Value* b) {
#if LLVM_VERSION_MAJOR >= 20
  return builder.CreateBinaryIntrinsic(
      isMax ? llvm::Intrinsic::maximumnum : llvm::Intrinsic::minimumnum, a, b);
#else
  llvm::Value* numbers = builder.CreateBinaryIntrinsic(
      isMax ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, b);
  llvm::Value* withoutA = builder.CreateSelect(builder.CreateFCmpUNO(a, a), b, numbers);
  return builder.CreateSelect(builder.CreateFCmpUNO(b, b), a, withoutA);
#endif
}

} // namespace mneme::compile::compat
