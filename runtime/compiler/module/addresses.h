// Room compiler: makes a host function find symbols that it does not own in a table at run time.
#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>

namespace mneme::compile {

struct Addresses {
  llvm::Constant* table = nullptr;  ///< null if nothing is looked up
  size_t count = 0;                 ///< entries of the table, used or not
  llvm::Constant* fixups = nullptr; ///< mneme_host_fixup[fixupCount]
  size_t fixupCount = 0;
};

/// Removes the copies of the program's constants and functions that the optimiser has used;
/// references then mean the program's own.
void forgetShadows(llvm::Module& module);

/// Replaces the symbols that the metadata "mneme.addresses" lists by loads from a table, and in
/// initialisers by fixups.
/// \throws Error{Unsupported} for an initialiser that is computed from an address
Addresses replaceAddresses(llvm::Module& module);

} // namespace mneme::compile
