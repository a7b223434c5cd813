// Room passes: names of members of structures, from debug information.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

#include <cstdint>
#include <string>

namespace mneme::passes {

class MemberNames {
public:
  /// Names of the members of a kernel's argument. `kernel` may be null.
  MemberNames(const llvm::Function* kernel, unsigned argument);
  /// Returns "s.n", the path to the member at this offset in bytes; "" if it is unknown.
  std::string at(uint64_t offset) const;

private:
  const llvm::DIType* type_ = nullptr;
};

} // namespace mneme::passes
