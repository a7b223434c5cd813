// Room compiler: compiles one request, from bytes to image.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/JSON.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/compiler/amd/code_object.h"
#include "runtime/compiler/assembler/assembler.h"
#include "runtime/compiler/diagnostics.h"
#include "runtime/compiler/ir/opt_bisect.h"
#include "runtime/compiler/module/function_pointers.h"
#include "runtime/compiler/module/specialize.h"
#include "runtime/compiler/pass_plugins.h"
#include "runtime/compiler/reasons/reasons.h"
#include "runtime/compiler/target_machine.h"
#include "runtime/core/abi/mneme_compile.h"
#include "runtime/core/abi/variable_names.h"

namespace mneme::compile {

struct JobOutputs {
  std::string image;
  std::string ir;
  std::string assembly;
  std::string linkedIr;
  std::string inputIr;
  std::string statisticsJson;
  std::string trace;
  std::string timeTrace;
};

/// Seconds.
struct StageTimes {
  double preprocess = 0;
  double parse = 0, link = 0, clone = 0, extract = 0, specialize = 0; ///< in preprocess
  double optimize = 0;
  double codegen = 0;
  double emit = 0, assemble = 0; ///< in codegen
};

/// A compilation and all memory LLVM holds for it. After a fatal error inside run() (see
/// fatal_guard.h) the object must be leaked.
class CompileJob {
public:
  /// `request` must outlive run().
  explicit CompileJob(const mneme_compile_request& request);

  /// \throws Error
  JobOutputs run();
  /// Whether the request's modules were read and linked.
  bool isLoaded() const { return module_ != nullptr; }
  /// Returns what the user's tools lack, for the message of a failed code generation; or "".
  std::string hint() const;

private:
  bool isAsBuilt() const;
  /// Whether every kernel of the module is wanted, none in particular.
  bool isUnit() const { return !*request_.kernel || isUnitsOwnCode(); }
  bool isUnitsOwnCode() const { return request_.kernel == llvm::StringRef(kUnitsOwnCode); }
  bool makesCode() const { return isUnit() || (request_.outputs & MNEME_OUTPUT_IMAGE) != 0; }
  std::string unitArch(const llvm::Triple& triple) const;
  /// The kernel's name after its arguments are specialised.
  const char* kernelName() const;
  void prepare();
  void makeCode();
  void preprocess();
  void load();
  void extract(llvm::Function& kernel);
  void specialize(llvm::Function& kernel);
  void optimize();
  llvm::PipelineTuningOptions tuning() const;
  void lowerForCpu();
  std::unique_ptr<llvm::TargetMachine> ownMachine() const;
  void specializeLambdas(llvm::Function& kernel, TraceText trace);
  void specializeStructs(llvm::Function& kernel, TraceText trace);
  void specializeDimensions(TraceText trace);
  void placeEarly();
  void placeLate();
  void checkVendor(const llvm::Triple& triple) const;
  void chooseAssembler();
  void chooseAmdFeatures();
  void addProgramsAssemblerOptions();
  void generate();
  void generatePtx();
  void generateAmd();
  void describeAmd(llvm::Module& copy);
  unsigned assemblerLevel() const;
  void generateHost();
  llvm::json::Array codegenParts() const;
  Remarks* remarks() const { return reasons_ ? &reasons_->remarks() : nullptr; }
  std::string statistics();

  const mneme_compile_request& request_;
  const PassPlugins plugins_;
  const std::unique_ptr<Reasons> reasons_; ///< null: nobody asks for them
  Diagnostics diagnostics_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  FunctionPointers pointers_;
  bool isDetached_ = false;
  bool isForAmd_ = false;                      ///< whether the IR is for AMD GPUs, for any target
  std::vector<mneme_global_place> latePlaces_; ///< of variables the optimiser may read
  Target target_;
  AotOptions options_;
  std::shared_ptr<const Assembler> assembler_; ///< null: the driver assembles
  std::vector<std::string> assemblerOptions_;
  uint32_t maxRegisters_ = 0;
  std::vector<std::string> unrecordedReads_;
  std::vector<std::string> refused_; ///< options of the program's build that were not applied
  unsigned sourcePtx_ = 0;
  unsigned ptxVersion_ = 0;
  ResourceUsage usage_;
  CodeObjectUsage amdUsage_;
  JobOutputs outputs_;
  std::string irHash_;
  std::shared_ptr<const ir::PassRuns> passRuns_;
  llvm::json::Object shape_;   ///< of the input code, if requested
  llvm::json::Object code_;    ///< of the code after the pipeline, if requested
  llvm::json::Array elements_; ///< if requested
  StageTimes times_;
};

} // namespace mneme::compile
