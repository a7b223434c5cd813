#include "passes/device_module.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Operator.h>

#include "runtime/compiler/ir/compat.h"

namespace mneme::passes {
namespace {

/// Whether an address of a function is in `root`, seen through the constants it points to.
bool reachesFunction(const llvm::Constant* root) {
  llvm::SmallPtrSet<const llvm::Constant*, 16> seen;
  llvm::SmallVector<const llvm::Constant*, 16> pending{root};
  while (!pending.empty()) {
    const llvm::Constant* constant = pending.pop_back_val();
    if (!seen.insert(constant).second)
      continue;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(constant)) {
      if (!isKernel(*function))
        return true;
      continue;
    }
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant);
        variable && !(variable->isConstant() && variable->hasInitializer()))
      continue;
    for (const llvm::Use& operand : constant->operands())
      if (const auto* next = llvm::dyn_cast<llvm::Constant>(operand.get()))
        pending.push_back(next);
  }
  return false;
}

} // namespace

bool isNeverWritten(const llvm::GlobalVariable& variable) {
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  llvm::SmallVector<const llvm::Value*, 16> pending{&variable};
  while (!pending.empty()) {
    const llvm::Value* pointer = pending.pop_back_val();
    if (!seen.insert(pointer).second)
      continue;
    for (const llvm::User* user : pointer->users()) {
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        if (load->isVolatile() || load->isAtomic())
          return false;
      } else if (llvm::isa<llvm::GEPOperator, llvm::AddrSpaceCastOperator, llvm::BitCastOperator,
                           llvm::PHINode, llvm::SelectInst>(user)) {
        pending.push_back(user);
      } else if (!llvm::isa<llvm::ICmpInst>(user)) {
        return false;
      }
    }
  }
  return true;
}

bool holdsFunctions(const llvm::GlobalVariable& variable) {
  return variable.getAddressSpace() != kSharedSpace && !variable.getName().starts_with("llvm.") &&
         variable.hasInitializer() && reachesFunction(variable.getInitializer());
}

bool isDeviceModule(const llvm::Module& module) {
  llvm::Triple triple = compat::moduleTriple(module);
  return triple.isNVPTX() || triple.isAMDGCN();
}

std::optional<uint64_t> nvvmAnnotation(const llvm::Function& function, llvm::StringRef name) {
  const llvm::NamedMDNode* annotations = function.getParent()->getNamedMetadata("nvvm.annotations");
  if (!annotations)
    return std::nullopt;
  for (const llvm::MDNode* node : annotations->operands()) {
    if (node->getNumOperands() < 3 ||
        llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) != &function)
      continue;
    for (unsigned index = 1; index + 1 < node->getNumOperands(); index += 2) {
      const auto* key = llvm::dyn_cast<llvm::MDString>(node->getOperand(index));
      const auto* value =
          llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node->getOperand(index + 1));
      if (key && value && key->getString() == name)
        return value->getZExtValue();
    }
  }
  return std::nullopt;
}

bool isKernel(const llvm::Function& function) {
  return function.getCallingConv() == llvm::CallingConv::PTX_Kernel ||
         function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL ||
         nvvmAnnotation(function, "kernel") == 1;
}

bool isLibraryFunction(const llvm::Function& function) {
  return llvm::any_of(llvm::ArrayRef{"__nv_", "__internal_", "__oc"},
                      [&](const char* prefix) { return function.getName().starts_with(prefix); });
}

llvm::SmallVector<llvm::Function*> findKernels(llvm::Module& module) {
  llvm::SmallVector<llvm::Function*> kernels;
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && isKernel(function))
      kernels.push_back(&function);
  return kernels;
}

bool isDeviceGlobal(const llvm::GlobalVariable& variable) {
  if (variable.getAddressSpace() == kSharedSpace || variable.getName().starts_with("llvm."))
    return false;
  if (variable.isDeclaration() || variable.isExternallyInitialized() || holdsFunctions(variable))
    return true;
  if (variable.isConstant() || !variable.hasInitializer())
    return false;
  // Tables such as libdevice's are not marked constant, but nothing can write to them.
  return !(variable.hasLocalLinkage() && isNeverWritten(variable));
}

std::string validIdentifier(llvm::StringRef name) {
  std::string result = name.str();
  for (char& character : result)
    if (!llvm::isAlnum(character) && character != '_' && character != '$')
      character = '_';
  return result;
}

std::string withoutUniqueSuffix(llvm::StringRef name) {
  for (llvm::StringRef marker : {"__mneme_", "__intern__", "__static__"}) {
    size_t position = name.rfind(marker);
    if (position == 0 || position == llvm::StringRef::npos)
      continue;
    llvm::StringRef digits = name.substr(position + marker.size());
    if (!digits.empty() && llvm::all_of(digits, llvm::isHexDigit))
      name = name.take_front(position);
  }
  return name.str();
}

std::string readableName(llvm::StringRef kernel) {
  return kernel.empty() ? std::string() : llvm::demangle(withoutUniqueSuffix(kernel));
}

} // namespace mneme::passes
