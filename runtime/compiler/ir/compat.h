// Differences between the versions of LLVM, 19 the oldest, for the rooms compile and passes. The
// only header that knows them. It offers each in one form, by testing the LLVM in use for features,
// and by its version only if neither a header nor a signature shows the difference.
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
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif

#include <cstdint>
#include <memory>
#include <string>

namespace mneme::compat {

/// Default version of code objects for AMD GPUs, times 100, for modules that do not state one.
inline constexpr unsigned kUsualCodeObjectVersion = LLVM_VERSION_MAJOR >= 20 ? 600 : 500;

inline llvm::Triple moduleTriple(const llvm::Module& module) {
  return llvm::Triple(module.getTargetTriple());
}

template <typename Module> void setModuleTriple(Module& module, const llvm::Triple& triple) {
  if constexpr (requires { module.setTargetTriple(triple); })
    module.setTargetTriple(triple);
  else
    module.setTargetTriple(triple.str());
}

template <typename Registry = llvm::TargetRegistry>
const llvm::Target* lookupTarget(const llvm::Triple& triple, std::string& message) {
  if constexpr (requires { Registry::lookupTarget(triple, message); })
    return Registry::lookupTarget(triple, message);
  else
    return Registry::lookupTarget(triple.str(), message);
}

template <typename Target>
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const Target& target, const llvm::Triple& triple, llvm::StringRef cpu,
                    llvm::StringRef features, const llvm::TargetOptions& options,
                    llvm::CodeGenOptLevel level) {
  const auto create = [&](const auto& name) {
    return std::unique_ptr<llvm::TargetMachine>(target.createTargetMachine(
        name, cpu, features, options, llvm::Reloc::PIC_, std::nullopt, level));
  };
  if constexpr (requires {
                  target.createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_);
                })
    return create(triple);
  else
    return create(triple.str());
}

/// NVPTX kernels state their limits in attributes since LLVM 21, before in annotations.
inline void setKernelLimit(llvm::Function& kernel, const char* attribute, const char* annotation,
                           uint32_t value) {
#if LLVM_VERSION_MAJOR >= 21
  kernel.addFnAttr(attribute, std::to_string(value));
#else
  llvm::LLVMContext& context = kernel.getContext();
  auto* number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  kernel.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(context, {llvm::ValueAsMetadata::get(&kernel),
                                               llvm::MDString::get(context, annotation),
                                               llvm::ConstantAsMetadata::get(number)}));
#endif
}

inline void setMaxThreads(llvm::Function& kernel, uint32_t threads) {
  setKernelLimit(kernel, "nvvm.maxntid", "maxntidx", threads);
}

inline void setMinBlocks(llvm::Function& kernel, uint32_t blocks) {
  setKernelLimit(kernel, "nvvm.minctasm", "minctasm", blocks);
}

/// Limit of registers per thread.
inline void setMaxRegisters(llvm::Function& kernel, uint32_t registers) {
  setKernelLimit(kernel, "nvvm.maxnreg", "maxnreg", registers);
}

/// Whether this address may escape in other ways than the function's result.
template <typename Value> bool mayBeCaptured(const Value* pointer) {
  if constexpr (requires { llvm::PointerMayBeCaptured(pointer, /*ReturnCaptures=*/false); })
    return llvm::PointerMayBeCaptured(pointer, /*ReturnCaptures=*/false);
  else
    return llvm::PointerMayBeCaptured(pointer, /*ReturnCaptures=*/false, /*StoreCaptures=*/true);
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

} // namespace mneme::compat
