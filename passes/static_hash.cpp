#include "passes/static_hash.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/xxhash.h>

#include "passes/device_module.h"

namespace mneme::passes {
namespace {

void forgetNames(llvm::Function& function) {
  for (llvm::Argument& argument : function.args())
    argument.setName("");
  for (llvm::BasicBlock& block : function) {
    block.setName("");
    for (llvm::Instruction& instruction : block) {
      instruction.setName("");
      instruction.setMetadata("srcloc", nullptr);
      instruction.setMetadata("heapallocsite", nullptr);
    }
  }
}

void canonicalizeLinkage(llvm::Module& module) {
  for (llvm::GlobalValue& global : module.global_values()) {
    global.setVisibility(llvm::GlobalValue::DefaultVisibility);
    global.setDSOLocal(global.hasLocalLinkage());
  }
}

void canonicalizeNames(llvm::Module& module) {
  unsigned internals = 0;
  llvm::SmallVector<llvm::GlobalValue*> globals;
  for (llvm::GlobalValue& global : module.global_values())
    globals.push_back(&global);
  for (llvm::GlobalValue* global : globals)
    if (!global->getName().starts_with("llvm."))
      global->setName(global->hasLocalLinkage() ? "mneme.local." + std::to_string(internals++)
                                                : withoutUniqueSuffix(global->getName()));
}

/// Functions and variables in the order in which the kernel's code reaches them.
llvm::SetVector<llvm::GlobalObject*> reached(llvm::Function& kernel) {
  llvm::SetVector<llvm::GlobalObject*> found;
  found.insert(&kernel);
  llvm::SmallPtrSet<const llvm::Constant*, 32> seen;
  llvm::SmallVector<llvm::Constant*> pending;
  const auto follow = [&](llvm::Value* value) {
    auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(value);
    if (constant && seen.insert(constant).second)
      pending.push_back(constant);
    while (!pending.empty()) {
      llvm::Constant* one = pending.pop_back_val();
      if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(one)) {
        found.insert(object);
        continue;
      }
      for (llvm::Value* operand : one->operands())
        if (auto* inner = llvm::dyn_cast<llvm::Constant>(operand);
            inner && seen.insert(inner).second)
          pending.push_back(inner);
    }
  };
  for (size_t index = 0; index < found.size(); ++index) {
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(found[index]);
        variable && variable->hasInitializer())
      follow(variable->getInitializer());
    if (auto* function = llvm::dyn_cast<llvm::Function>(found[index]))
      for (llvm::Instruction& instruction : llvm::instructions(*function))
        for (llvm::Value* operand : instruction.operands())
          follow(operand);
  }
  return found;
}

/// Variables of the program keep their names, and so do functions of other units.
void forgetFunctions(llvm::Module& module, llvm::Function& kernel) {
  unsigned number = 0;
  for (llvm::GlobalObject* object : reached(kernel)) {
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
      variable->removeFromParent();
      module.insertGlobalVariable(variable);
      continue;
    }
    auto& function = llvm::cast<llvm::Function>(*object);
    function.removeFromParent();
    module.getFunctionList().push_back(&function);
    if (function.isDeclaration())
      continue;
    function.setComdat(nullptr);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      instruction.setMetadata(llvm::LLVMContext::MD_tbaa, nullptr); // has the names of types
      instruction.setMetadata(llvm::LLVMContext::MD_tbaa_struct, nullptr);
    }
    function.setName("mneme.function." + std::to_string(number++));
  }
}

/// Debug information, and position independence of the host code, which device code shrugs at.
bool isIrrelevantFlag(const llvm::MDNode& flag) {
  const auto* name = flag.getNumOperands() > 1
                         ? llvm::dyn_cast_or_null<llvm::MDString>(flag.getOperand(1))
                         : nullptr;
  return name &&
         llvm::is_contained({"Debug Info Version", "Dwarf Version", "PIC Level", "PIE Level"},
                            name->getString());
}

void forgetFlags(llvm::Module& module) {
  llvm::NamedMDNode* flags = module.getModuleFlagsMetadata();
  if (!flags)
    return;
  llvm::SmallVector<llvm::MDNode*> kept;
  for (llvm::MDNode* flag : flags->operands())
    if (!isIrrelevantFlag(*flag))
      kept.push_back(flag);
  flags->clearOperands();
  for (llvm::MDNode* flag : kept)
    flags->addOperand(flag);
  if (kept.empty())
    flags->eraseFromParent();
}

void canonicalize(llvm::Module& module) {
  llvm::StripDebugInfo(module);
  forgetFlags(module);
  module.setSourceFileName("");
  module.setModuleIdentifier("");
  for (llvm::Function& function : module)
    forgetNames(function);
  canonicalizeLinkage(module);
  canonicalizeNames(module);
  for (llvm::StructType* type : module.getIdentifiedStructTypes())
    type->setName("");
  llvm::SmallVector<llvm::NamedMDNode*> doomed;
  for (llvm::NamedMDNode& node : module.named_metadata())
    if (node.getName() != "llvm.module.flags" && node.getName() != "nvvm.annotations")
      doomed.push_back(&node);
  for (llvm::NamedMDNode* node : doomed)
    node->eraseFromParent();
}

/// Hashes text, because bitcode lists every metadata kind the compiler ever heard of, used or not.
uint64_t hashOf(const llvm::Module& module, std::string begin) {
  llvm::raw_string_ostream stream(begin);
  module.print(stream, nullptr);
  stream.flush();
  return llvm::xxh3_64bits(begin);
}

} // namespace

CodeIdentity identify(llvm::MemoryBufferRef bitcode, llvm::StringRef kernel, std::string& error) {
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::parseBitcodeFile(bitcode, context);
  if (!module) {
    error = llvm::toString(module.takeError());
    return {};
  }
  llvm::Function* function = (*module)->getFunction(kernel); // null: shared code
  canonicalize(**module);
  CodeIdentity identity{.staticHash = hashOf(**module, withoutUniqueSuffix(kernel)), .codeHash = 0};
  if (function) {
    forgetFunctions(**module, *function);
    canonicalizeNames(**module); // numbers what is internal in the new order
    identity.codeHash = hashOf(**module, "");
  }
  return identity;
}

} // namespace mneme::passes
