// Room passes: what a host function reaches in its unit, and how its copy refers to each.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Module.h>

#include <string>

namespace mneme::passes {

enum class Reference {
  Copy,    ///< the copy has one of its own
  Shadow,  ///< by address, with content for the optimiser
  Address, ///< by address
  Symbol,  ///< as ordinary dynamic symbol
};

struct HostReferences {
  llvm::MapVector<llvm::GlobalValue*, Reference> all;
  /// Functions among the shadows that are called as well: by a copy of their own.
  llvm::DenseSet<const llvm::GlobalValue*> called;
  std::string whyNot; ///< empty: all can be referred to
};

/// What `root` reaches. `entries` as extractHostFunction() takes them.
HostReferences findReferences(llvm::Function& root,
                              const llvm::DenseSet<const llvm::Function*>& entries);

/// Whether an instruction counts for a profile of the program: copies do without.
bool countsForProfile(const llvm::Instruction& instruction);

/// The function behind an alias that always stands for it; else the value itself.
llvm::GlobalValue* behindAlias(llvm::GlobalValue* global);

} // namespace mneme::passes
