// Room compiler: compiles one marked function of a host program or, without `kernel`, a module made
// at run time, from bytes to a shared object.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "runtime/compiler/compile_job.h"
#include "runtime/compiler/diagnostics.h"
#include "runtime/compiler/image_linker.h"
#include "runtime/compiler/pass_plugins.h"
#include "runtime/core/abi/mneme_compile.h"

namespace mneme::compile {

/// Target of requests for a HostJob.
inline constexpr const char* kHostTarget = "host";

/// A compilation and all memory LLVM holds for it, as CompileJob is one for kernels. Each function
/// is compiled for its ahead-of-time processor.
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
