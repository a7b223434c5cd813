#include "passes/externalize_globals.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/xxhash.h>

#include <algorithm>
#include <string>
#include <vector>

#include "passes/device_module.h"
#include "runtime/compiler/ir/function_cells.h"

namespace mneme::passes {
namespace {

/// Names of strong definitions differ between any two units of a program. A unit without any is
/// identified by the base name of its source, so that moving a source tree changes nothing.
uint64_t unitFingerprint(const llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::GlobalValue& global : module.global_values())
    if (!global.isDeclaration() && global.hasExternalLinkage())
      names.push_back(withoutUniqueSuffix(global.getName()));
  std::sort(names.begin(), names.end());
  if (names.empty()) {
    for (const llvm::GlobalValue& global : module.global_values())
      if (!global.isDeclaration() && global.hasWeakODRLinkage())
        names.push_back(global.getName().str());
    names.push_back(llvm::StringRef(module.getSourceFileName()).rsplit('/').second.str());
  }
  return llvm::xxh3_64bits(llvm::join(names, "\n"));
}

void externalize(llvm::GlobalValue& global, const std::string& suffix) {
  global.setName(validIdentifier(global.getName()) + suffix);
  global.setLinkage(llvm::GlobalValue::ExternalLinkage);
  global.setVisibility(llvm::GlobalValue::ProtectedVisibility);
  global.setDSOLocal(true);
}

} // namespace

bool externalizeGlobals(llvm::Module& module) {
  llvm::SmallVector<llvm::GlobalVariable*> internals;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.hasLocalLinkage() && !variable.use_empty() && isDeviceGlobal(variable) &&
        !variable.getName().starts_with("__clang_"))
      internals.push_back(&variable);
  if (internals.empty())
    return false;
  std::string suffix = "__mneme_" + llvm::utohexstr(unitFingerprint(module), true, 16);
  for (llvm::GlobalVariable* variable : internals) {
    // Copies of a function that has a cell, in closures, are the same function: it has one address.
    if (llvm::Function* function = ir::functionOf(*variable);
        function && function->hasLocalLinkage())
      externalize(*function, suffix);
    externalize(*variable, suffix);
  }
  return true;
}

} // namespace mneme::passes
