// Room passes: names of members of structures, from debug information.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

#include <cstdint>
#include <string>

namespace mneme::passes {

/// Returns the types of a kernel's arguments in the source; fewer than it has, and null, where
/// there is no debug information.
llvm::SmallVector<const llvm::DIType*> argumentTypes(const llvm::Function& kernel);

class MemberNames {
public:
  /// Names of the members of an argument of this type, which may be null.
  explicit MemberNames(const llvm::DIType* type) : type_(type) {}
  /// Returns "s.n", the path to the member at this offset in bytes; "" if it is unknown.
  std::string at(uint64_t offset) const;

private:
  const llvm::DIType* type_;
};

} // namespace mneme::passes
