// Room compile: what a host function refers to and does not own is found in a table at run time.
#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>

namespace mneme::compile {

struct Addresses {
  llvm::Constant* table = nullptr;  ///< null pointer where nothing is looked up
  size_t count = 0;                 ///< of the table, whether used or not
  llvm::Constant* fixups = nullptr; ///< mneme_host_fixup[fixupCount]
  size_t fixupCount = 0;
};

/// What the optimiser was told of the content of the program's constants and functions is
/// forgotten; the program's own are meant from here on.
void forgetShadows(llvm::Module& module);

/// Replaces the symbols that the metadata "mneme.addresses" lists by loads from a table, and in
/// initialisers by fixups.
/// \throws Error{Unsupported} for an initialiser that is computed from an address
Addresses replaceAddresses(llvm::Module& module);

} // namespace mneme::compile
