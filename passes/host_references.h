// Room passes: finds what a host function uses in its unit and how its copy refers to each item.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Module.h>

#include <string>

namespace mneme::passes {

enum class Reference {
  Copy,    ///< copied
  Shadow,  ///< by address, with content for the optimiser
  Address, ///< by address
  Symbol,  ///< as ordinary dynamic symbol
};

struct HostReferences {
  llvm::MapVector<llvm::GlobalValue*, Reference> all;
  /// Shadow functions that are also called; they are copied under another name.
  llvm::DenseSet<const llvm::GlobalValue*> called;
  std::string whyNot; ///< empty: the copy can refer to everything
};

/// Finds what `root` reaches. `entries` are those of extractHostFunction().
HostReferences findReferences(llvm::Function& root,
                              const llvm::DenseSet<const llvm::Function*>& entries);

/// Returns whether an instruction updates a counter of a profile of the program; copies leave those
/// out.
bool countsForProfile(const llvm::Instruction& instruction);

/// Returns the function behind an alias that cannot be replaced; otherwise the value itself.
llvm::GlobalValue* behindAlias(llvm::GlobalValue* global);

} // namespace mneme::passes
