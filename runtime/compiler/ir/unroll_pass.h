// Room compiler/ir: the pass `mneme-unroll<N>`, which sets how often loops are unrolled, or that
// they are unrolled completely (`mneme-unroll<full>`). LLVM's own `loop-unroll` takes no count. The
// pass only marks loops; later passes unroll them.
#pragma once

#include <llvm/IR/Analysis.h>
#include <llvm/IR/PassManager.h>

#include <cstdint>

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace mneme::ir {

inline constexpr char kUnrollPass[] = "mneme-unroll";
inline constexpr uint32_t kUnrollFully = 0;

/// Marks the innermost loops of a function with `llvm.loop.unroll.count`. A count of 1 marks every
/// loop with `llvm.loop.unroll.disable`, because LLVM would otherwise unroll the loops around the
/// innermost ones. `kUnrollFully` marks every loop with `llvm.loop.unroll.full`, which LLVM follows
/// if it knows the number of iterations and the result is not too large. Loops with a user's pragma
/// keep it. A loop that calls a function with loops does not count as innermost, because it is not
/// after inlining.
class UnrollPass : public llvm::PassInfoMixin<UnrollPass> {
public:
  /// \param count 1 to 1024, or `kUnrollFully`
  explicit UnrollPass(uint32_t count) : count_(count) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

private:
  uint32_t count_;
};

/// Makes pipelines that `builder` parses know `mneme-unroll<N>`, with N from 1 to 1024 or `full`,
/// where function passes stand.
void registerUnrollPass(llvm::PassBuilder& builder);

} // namespace mneme::ir
