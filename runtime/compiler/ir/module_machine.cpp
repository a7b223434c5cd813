#include "runtime/compiler/ir/module_machine.h"

#include <string>

#include "runtime/compiler/ir/compat.h"

namespace mneme::ir {

std::unique_ptr<llvm::TargetMachine> machineFor(const llvm::Module& module) {
  llvm::Triple triple = compat::moduleTriple(module);
  std::string message;
  const llvm::Target* target = compat::lookupTarget(triple, message);
  if (!target)
    return nullptr;
  llvm::StringRef cpu, features;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration() && function.hasFnAttribute("target-cpu")) {
      cpu = function.getFnAttribute("target-cpu").getValueAsString();
      features = function.getFnAttribute("target-features").getValueAsString();
      break;
    }
  return compat::createTargetMachine(*target, triple, cpu, features, llvm::TargetOptions(),
                                     llvm::CodeGenOptLevel::Aggressive);
}

} // namespace mneme::ir
