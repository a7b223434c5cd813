// Room compile: one marked function of a host program, or (no `kernel`) a module made at run time,
// from bytes to shared object.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "runtime/abi/mneme_compile.h"
#include "runtime/compile/compile_job.h"
#include "runtime/compile/diagnostics.h"
#include "runtime/compile/image_linker.h"
#include "runtime/compile/pass_plugins.h"

namespace mneme::compile {

/// Target of a request that is for a HostJob.
inline constexpr const char* kHostTarget = "host";

/// A compilation and all memory LLVM holds for it, as CompileJob is one for kernels. The processor
/// is the one that each function was compiled for ahead of time.
class HostJob {
public:
  /// `request` must outlive run().
  explicit HostJob(const mneme_compile_request& request);

  /// \throws Error
  JobOutputs run();
  bool isLoaded() const { return module_ != nullptr; }
  std::string hint() const { return {}; }

private:
  void load();
  JobOutputs runLibrary();
  void finish(ImageKind kind);
  void specialize(llvm::Function& function);
  void optimize();
  void generate(ImageKind kind);
  void describe(llvm::Function& function);

  const mneme_compile_request& request_;
  const PassPlugins plugins_;
  Diagnostics diagnostics_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  JobOutputs outputs_;
  StageTimes times_;
  llvm::json::Object shape_; ///< as CompileJob's
  llvm::json::Object code_;
};

} // namespace mneme::compile
