// Room ir: the pass `mneme-unroll<N>`, which says how often loops are unrolled. LLVM's own
// `loop-unroll` takes no count. It only marks loops; the pipeline behind it unrolls them.
#pragma once

#include <llvm/IR/Analysis.h>
#include <llvm/IR/PassManager.h>

#include <cstdint>

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace mneme::ir {

inline constexpr char kUnrollPass[] = "mneme-unroll";

/// Marks the innermost loops of a function with `llvm.loop.unroll.count`. A count of 1 marks every
/// loop with `llvm.loop.unroll.disable`, as LLVM would unroll those around the innermost instead.
/// Loops with a pragma of the user's keep it. A loop that calls a function with loops is not
/// innermost: it will not be once that is inlined.
class UnrollPass : public llvm::PassInfoMixin<UnrollPass> {
public:
  /// \param count at least 1
  explicit UnrollPass(uint32_t count) : count_(count) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

private:
  uint32_t count_;
};

/// Makes pipelines that `builder` parses know `mneme-unroll<N>`, with N from 1 to 1024, where
/// function passes stand.
void registerUnrollPass(llvm::PassBuilder& builder);

} // namespace mneme::ir
