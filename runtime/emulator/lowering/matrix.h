// Room emulator/lowering: products of small matrices whose elements are distributed over the lanes
// of a warp, for the instructions of tensor cores. Not optimised: each lane fetches the elements
// that its results need from other lanes.
#pragma once

#include <optional>

#include "runtime/emulator/lowering/emit.h"

namespace mneme::compile::cpu {

/// The type of the elements in 32-bit registers, or of one element in a 64-bit register.
enum class MatrixType { Half, Bfloat, Tf32, Float, Double, S4, U4, S8, U8, S32 };

/// "f16", "s8" and so on.
std::optional<MatrixType> parseMatrixType(llvm::StringRef name);
unsigned matrixBits(MatrixType type);
/// Returns the number of elements in one register.
unsigned matrixLanes(MatrixType type);

/// The registers of all lanes of the warp, readable by every lane. All lanes must construct and
/// finish it together. It must not be read afterwards, because the next one uses the same memory.
class SharedRegisters {
public:
  /// `mine`: this lane's registers, at most 16 words of 32 bits.
  SharedRegisters(Emit& e, llvm::ArrayRef<llvm::Value*> mine);
  /// Returns register `number` of lane `lane`.
  llvm::Value* of(llvm::Value* lane, unsigned number) const;
  void finish() const;

private:
  uint64_t stride() const;
  llvm::Value* place(llvm::Value* lane, unsigned number) const;

  Emit& e_;
  llvm::SmallVector<llvm::Type*> types_;
  llvm::Value* base_ = nullptr;
};

/// Makes all lanes of the warp wait for each other.
void syncWarp(Emit& e);

/// Returns element `at` of a register (bits of any type of the register's width) as float, double
/// or i32.
llvm::Value* matrixElement(Emit& e, llvm::Value* bits, MatrixType type, unsigned at);

/// Returns sum + a * b for elements of `type`.
llvm::Value* multiplyAdd(Emit& e, MatrixType type, llvm::Value* a, llvm::Value* b,
                         llvm::Value* sum);

/// Rounds the number to an element of `type`, as an accumulator does.
llvm::Value* toMatrixElement(Emit& e, llvm::Value* number, MatrixType type);

/// Converts an element to the type of sums: float, double or i64, which can hold any sum.
llvm::Value* toSum(Emit& e, llvm::Value* element);
/// Converts a sum back to an element; integers wrap or saturate.
llvm::Value* fromSum(Emit& e, llvm::Value* sum, bool isSaturating);

/// Replaces one call of llvm.nvvm.wmma.<name>; operands and results are those of the PTX ISA,
/// except for the distribution of elements, which the ISA leaves unspecified: every lane holds
/// neighbours in a row.
void lowerWmma(llvm::CallInst& call, llvm::StringRef name);

} // namespace mneme::compile::cpu
