#include "runtime/compiler/ir/pipeline_tuning.h"

namespace mneme::ir {
namespace {

std::optional<bool> ifOther(bool actual, bool usual) {
  return actual == usual ? std::nullopt : std::optional(actual);
}

/// The level of the first pipeline in `passes` that has one, empty if none has.
llvm::StringRef levelIn(llvm::StringRef passes) {
  for (size_t at = passes.find("<O"); at != llvm::StringRef::npos; at = passes.find("<O", at + 1)) {
    const llvm::StringRef level = passes.substr(at + 2, 1);
    if (passes.substr(at + 3).starts_with(">") && llvm::StringRef("0123sz").contains(level))
      return level;
  }
  return {};
}

} // namespace

llvm::StringRef codegenLevelOf(llvm::StringRef level) {
  return level == "s" || level == "z" ? "2" : level;
}

llvm::PipelineTuningOptions clangTuning(llvm::StringRef level) {
  const bool isOptimized = level != "0" && level != "1";
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = isOptimized;
  tuning.LoopInterleaving = isOptimized;
  tuning.LoopVectorization = isOptimized && level != "z";
  tuning.SLPVectorization = isOptimized;
  return tuning;
}

LoopChoices choicesIn(const llvm::PipelineTuningOptions& tuning, llvm::StringRef level) {
  const llvm::PipelineTuningOptions usual = clangTuning(level);
  return {ifOther(tuning.LoopUnrolling, usual.LoopUnrolling),
          ifOther(tuning.LoopInterleaving, usual.LoopInterleaving),
          ifOther(tuning.LoopVectorization, usual.LoopVectorization),
          ifOther(tuning.SLPVectorization, usual.SLPVectorization)};
}

llvm::PipelineTuningOptions tuningFor(llvm::StringRef passes, llvm::StringRef programLevel,
                                      const LoopChoices& choices) {
  const llvm::StringRef level = levelIn(passes);
  if (level.empty())
    return {};
  llvm::PipelineTuningOptions tuning = clangTuning(level);
  if (level != programLevel)
    return tuning;
  tuning.LoopUnrolling = choices.unroll.value_or(tuning.LoopUnrolling);
  tuning.LoopInterleaving = choices.interleave.value_or(tuning.LoopInterleaving);
  tuning.LoopVectorization = choices.vectorize.value_or(tuning.LoopVectorization);
  tuning.SLPVectorization = choices.vectorizeSlp.value_or(tuning.SLPVectorization);
  return tuning;
}

} // namespace mneme::ir
