// Room compiler/ir: where the content of a closure comes from that a kernel calls.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

#include <cstdint>
#include <optional>

#include "runtime/compiler/ir/closure_argument.h"

namespace mneme::ir {

/// Bytes of an argument that a kernel is launched with.
struct ArgumentBytes {
  unsigned argument;
  int64_t offset;
  bool operator==(const ArgumentBytes&) const = default;
};

/// Returns whether a member function is const, by its mangled name.
bool isConstMember(const llvm::Function& function);

/// Returns whether the operator may change these bytes of its closure.
bool mayChange(llvm::Function& callOperator, uint64_t offset, uint64_t sizeBytes);

/// Follows what a kernel copies. Local variables must be split and in registers as far as that is
/// possible.
class ClosureContent {
public:
  ClosureContent(llvm::Function& kernel, llvm::Function& callOperator)
      : kernel_(kernel), operator_(callOperator) {}

  /// Returns from where in the kernel's arguments `sizeBytes` bytes at `address` + `offset` come
  /// unchanged, whatever path the kernel took. Empty if that is unknown.
  std::optional<ArgumentBytes> source(llvm::Value& address, int64_t offset, uint64_t sizeBytes);

  /// Calls that hid something from source(); inlining them may help.
  llvm::ArrayRef<llvm::CallBase*> obstacles() const { return obstacles_.getArrayRef(); }

private:
  friend class ContentWalk;
  llvm::Function& kernel_;
  llvm::Function& operator_;
  llvm::SetVector<llvm::CallBase*> obstacles_;
};

} // namespace mneme::ir
