// Room passes: extracts one host function from its unit, to be compiled at run time.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

namespace mneme::passes {

/// A separate module that holds a host function and the functions it calls.
///
/// Called functions are copied and made internal. Everything else that must exist only once in the
/// program is referred to by its address: the module declares it, the named metadata
/// "mneme.addresses" lists the declarations, and `addresses` holds the unit's values that they
/// stand for, in the same order. If the content of such a constant or function is known, the module
/// has it as `available_externally`, so that the optimiser can read it while the program's own
/// definition is used. Functions of libc and libm, personality functions and exception classes are
/// ordinary symbols.
struct HostClosure {
  std::unique_ptr<llvm::Module> module;
  std::vector<llvm::Constant*> addresses;
  std::string whyNot; ///< why the function cannot be extracted; nothing else is set then
};

/// Extracts the internal function `function`; its copy has external linkage and the name `name`.
/// Functions in `entries` are always called by their addresses. Adds functions to the unit that
/// return the addresses of thread-local variables; changes nothing else. `dropsOptnone`: remove
/// `optnone` from the copy, because it only comes from compiling the unit without optimisation.
HostClosure extractHostFunction(llvm::Function& function, llvm::StringRef name,
                                const llvm::DenseSet<const llvm::Function*>& entries,
                                bool dropsOptnone);

/// The named metadata of a closure that lists the declarations.
inline constexpr llvm::StringLiteral kAddressesMetadata = "mneme.addresses";

} // namespace mneme::passes
