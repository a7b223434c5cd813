#include "passes/static_hash.h"

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

void canonicalizeSymbols(llvm::Module& module) {
  unsigned internals = 0;
  llvm::SmallVector<llvm::GlobalValue*> globals;
  for (llvm::GlobalValue& global : module.global_values())
    globals.push_back(&global);
  for (llvm::GlobalValue* global : globals) {
    global->setVisibility(llvm::GlobalValue::DefaultVisibility);
    global->setDSOLocal(global->hasLocalLinkage());
    if (global->getName().starts_with("llvm."))
      continue;
    global->setName(global->hasLocalLinkage() ? "mneme.local." + std::to_string(internals++)
                                              : withoutUniqueSuffix(global->getName()));
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
  canonicalizeSymbols(module);
  for (llvm::StructType* type : module.getIdentifiedStructTypes())
    type->setName("");
  llvm::SmallVector<llvm::NamedMDNode*> doomed;
  for (llvm::NamedMDNode& node : module.named_metadata())
    if (node.getName() != "llvm.module.flags" && node.getName() != "nvvm.annotations")
      doomed.push_back(&node);
  for (llvm::NamedMDNode* node : doomed)
    node->eraseFromParent();
}

} // namespace

uint64_t staticHash(llvm::MemoryBufferRef bitcode, llvm::StringRef kernel, std::string& error) {
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::parseBitcodeFile(bitcode, context);
  if (!module) {
    error = llvm::toString(module.takeError());
    return 0;
  }
  canonicalize(**module);
  // Text, because bitcode lists every metadata kind the compiler ever heard of, used or not.
  std::string text = withoutUniqueSuffix(kernel);
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, nullptr);
  stream.flush();
  return llvm::xxh3_64bits(text);
}

} // namespace mneme::passes
