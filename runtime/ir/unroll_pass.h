// Room ir: the pass `mneme-unroll<N>`, which says how often loops are unrolled, or that they are
// completely (`mneme-unroll<full>`). LLVM's own `loop-unroll` takes no count. It only marks loops;
// the pipeline behind it unrolls them.
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
/// loop with `llvm.loop.unroll.disable`, as LLVM would unroll those around the innermost instead;
/// `kUnrollFully` marks every loop with `llvm.loop.unroll.full`, which LLVM follows where it knows
/// how often a loop runs and the result is not too large. Loops with a pragma of the user's keep
/// it. A loop that calls a function with loops is not innermost: it will not be once that is
/// inlined.
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
