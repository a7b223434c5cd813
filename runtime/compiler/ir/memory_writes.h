// Room compiler/ir: what may write to some bytes of memory whose address is known.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <cstdint>

namespace mneme::ir {

/// A store of all the bytes, or a copy to them.
struct MemoryWrite {
  llvm::Value* value = nullptr;  ///< what is stored
  llvm::Value* source = nullptr; ///< where a copy comes from
  int64_t offset = 0;            ///< of the bytes in the value or behind the source
};

/// All that may write to `sizeBytes` bytes at `base` + `offset`, which is a local variable or an
/// argument. `reader`, a call operator, leaves its closure as it is.
class MemoryWrites {
public:
  MemoryWrites(llvm::Value& base, int64_t offset, uint64_t sizeBytes, llvm::Function* reader);

  llvm::SmallVector<MemoryWrite, 2> writes;
  /// Something else may write to them, too, or to a part of them.
  bool isUnknown = false;
  /// Calls that are given the address. With any, isUnknown is true.
  llvm::SmallVector<llvm::CallBase*, 2> obstacles;

private:
  /// The address itself, or a variable that it is kept in.
  enum class Kind { Address, Holder };
  struct Place {
    llvm::Value* value;
    int64_t offset; ///< of the address to the base
    Kind kind;
    int64_t held; ///< offset of the base's address that a holder keeps
  };

  void add(const Place& place);
  void visit(llvm::Use& use, const Place& place);
  void visitHolder(llvm::Use& use, const Place& place);
  bool step(llvm::User& user, const Place& place);
  void visitComputed(llvm::User& address, const Place& place);
  void visitCall(llvm::CallBase& call, llvm::Use& use, const Place& place);
  void visitStore(llvm::StoreInst& store, llvm::Use& use, const Place& place);
  void write(int64_t begin, uint64_t size, MemoryWrite what);
  void keep(llvm::Value& variable, int64_t held);

  const llvm::DataLayout& layout_;
  const int64_t begin_;
  const int64_t end_;
  llvm::Function* const reader_;
  llvm::SmallVector<Place> pending_;
  llvm::DenseSet<std::pair<llvm::Value*, std::pair<int64_t, int64_t>>> seen_;
};

} // namespace mneme::ir
