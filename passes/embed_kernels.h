// Room passes: device side. Embeds every kernel's unoptimised IR in the device image.
#pragma once

#include <llvm/IR/PassManager.h>

#include <string>

#include "passes/build_facts.h"

namespace mneme::passes {

struct EmbedOptions {
  std::string kernels; ///< regular expression to find in demangled names; empty: every kernel
  std::string tuned;   ///< file of tuned kernels to apply (apply_tuned.h); empty: none
  BuildFacts build = {};
  bool marksAll = false; ///< compile every kernel at run time, with or without marks
};

/// Embeds one blob per kernel, and one for the device code that other units may use, if there is
/// any. Leaves host modules and device modules with neither unchanged. Warns if something cannot be
/// embedded; the program then works as written. Returns whether the module changed.
bool embedKernels(llvm::Module& module, const EmbedOptions& options);

class EmbedKernelsPass : public llvm::PassInfoMixin<EmbedKernelsPass> {
public:
  explicit EmbedKernelsPass(EmbedOptions options) : options_(std::move(options)) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }

private:
  EmbedOptions options_;
};

} // namespace mneme::passes
