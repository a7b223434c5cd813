// Room passes: cuts one function of the host out of its unit, to be compiled at run time.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

namespace mneme::passes {

/// A module of its own that holds a host function and what it calls.
///
/// Functions that are called are copied as internal ones. Everything else that the program has one
/// of is referred to by its address: the module declares it, the named metadata "mneme.addresses"
/// lists the declarations, and `addresses` has what they stand for in the unit, in the same order.
/// Where the content of such a constant or function is known, the module has it as
/// `available_externally`: the optimiser may look, the program's own is used. Functions of libc and
/// libm, personalities and classes of exceptions are ordinary symbols.
struct HostClosure {
  std::unique_ptr<llvm::Module> module;
  std::vector<llvm::Constant*> addresses;
  std::string whyNot; ///< the function cannot be cut out; nothing else is set then
};

/// `function` is internal; its copy has external linkage and `name`. Functions in `entries` are
/// called by their addresses whatever is known of them. Adds functions to the unit that find
/// thread-local variables; changes nothing else. `dropsOptnone`: the unit is compiled without
/// optimisation, which says nothing of its copy.
HostClosure extractHostFunction(llvm::Function& function, llvm::StringRef name,
                                const llvm::DenseSet<const llvm::Function*>& entries,
                                bool dropsOptnone);

/// Named metadata of a closure.
inline constexpr llvm::StringLiteral kAddressesMetadata = "mneme.addresses";

} // namespace mneme::passes
