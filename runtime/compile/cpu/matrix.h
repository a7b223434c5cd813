// Room compile/cpu: products of small matrices whose elements the lanes of a warp share, for what
// tensor cores do. Nothing here is fast: each lane fetches what its own results need from others.
#pragma once

#include <optional>

#include "runtime/compile/cpu/emit.h"

namespace mneme::compile::cpu {

/// How elements lie in 32-bit registers, or one in a register of 64 bits.
enum class MatrixType { Half, Bfloat, Tf32, Float, Double, S4, U4, S8, U8, S32 };

/// "f16", "s8" and so on.
std::optional<MatrixType> parseMatrixType(llvm::StringRef name);
unsigned matrixBits(MatrixType type);
/// Elements of one register.
unsigned matrixLanes(MatrixType type);

/// Registers of all lanes of the warp, where every lane can read them. All lanes take part in
/// making and in finishing it, and nothing of it may be read later: the next one uses the same
/// memory.
class SharedRegisters {
public:
  /// `mine`: this lane's registers, at most 16 words of 32 bits.
  SharedRegisters(Emit& e, llvm::ArrayRef<llvm::Value*> mine);
  /// Register `number` of lane `lane`, as it was given.
  llvm::Value* of(llvm::Value* lane, unsigned number) const;
  void finish() const;

private:
  uint64_t stride() const;
  llvm::Value* place(llvm::Value* lane, unsigned number) const;

  Emit& e_;
  llvm::SmallVector<llvm::Type*> types_;
  llvm::Value* base_ = nullptr;
};

/// No lane of the warp goes on before all are here.
void syncWarp(Emit& e);

/// Element `at` of a register (bits of any type, as wide as the register), as float, double or i32.
llvm::Value* matrixElement(Emit& e, llvm::Value* bits, MatrixType type, unsigned at);

/// sum + a * b, of elements of `type`.
llvm::Value* multiplyAdd(Emit& e, MatrixType type, llvm::Value* a, llvm::Value* b,
                         llvm::Value* sum);

/// The number as an element of `type`: what an accumulator keeps.
llvm::Value* toMatrixElement(Emit& e, llvm::Value* number, MatrixType type);

/// What sums of products of `type` are made in: float, double or i64, which holds any sum.
llvm::Value* toSum(Emit& e, llvm::Value* element);
/// And back: integers wrap, or saturate.
llvm::Value* fromSum(Emit& e, llvm::Value* sum, bool isSaturating);

/// Replaces one call of llvm.nvvm.wmma.<name>; its operands and results are as the PTX ISA says,
/// but which element is where, which no program may know: every lane holds neighbours in a row.
void lowerWmma(llvm::CallInst& call, llvm::StringRef name);

} // namespace mneme::compile::cpu
