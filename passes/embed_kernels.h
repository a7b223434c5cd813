// Room passes: device side. Leaves every kernel's raw IR in the device image.
#pragma once

#include <llvm/IR/PassManager.h>

#include <string>

#include "passes/build_facts.h"

namespace mneme::passes {

struct EmbedOptions {
  std::string kernels; ///< regular expression searched in demangled names; empty: every kernel
  std::string tuned;   ///< file of tuned kernels to apply (apply_tuned.h); empty: none
  BuildFacts build = {};
  bool marksAll = false; ///< every kernel is compiled at run time, whatever its own marks say
};

/// Embeds a blob for each kernel and, if the unit has device code other units may use, one for
/// that. A device module without kernels and shared code, and a host module, stay as they are. What
/// cannot be embedded is reported as a warning; the program stays as it was written. Returns
/// whether the module changed.
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
