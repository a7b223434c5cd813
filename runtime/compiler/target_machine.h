// Room compiler: the target of machine code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/compiler/ir/pipeline_tuning.h"
#include "runtime/compiler/module/other_callers.h"

namespace mneme::compile {

enum class TargetKind { Cpu, Ptx, Amd };

/// A request's `target`, parsed: "cpu", "cpu:<LLVM cpu name>", "sm_<number>[a|f]", or a target ID
/// of AMD's such as "gfx90a:sramecc+:xnack-".
struct Target {
  TargetKind kind = TargetKind::Cpu;
  std::string cpu;      ///< LLVM's name; "cpu" gives this host's
  std::string features; ///< LLVM feature string

  bool isGpu() const { return kind != TargetKind::Cpu; }

  /// \throws Error{InvalidArgument} for a name LLVM does not know.
  static Target parse(const std::string& name);
};

/// Ahead-of-time options that change results, from the blob's "options" object.
struct AotOptions {
  /// Whether the code generator fuses without a flag at the operation; clang's default for CUDA.
  bool fusesEverywhere = true;
  bool flushDenormals = false;
  bool preciseDivision = true;
  bool preciseSqrt = true;
  std::string optLevel; ///< "0".."3", "s", "z"; empty: unknown
  ir::LoopChoices loops;
  std::vector<std::string> ownFunctions; ///< as internalizeExcept() takes them
  std::vector<SharedFunction> sharedFunctions;
  std::vector<std::string> llvmOptions;      ///< "name=value", as LlvmOptions takes them
  std::string assemblerLevel;                ///< for ptxas; empty: the level of code generation
  std::vector<std::string> assemblerOptions; ///< unchecked
  std::string triple;                        ///< for modules without one
  unsigned ptxVersion = 0;                   ///< that the code needs, as of assembler/ptx_version.h
  bool fibersOnly = false;                   ///< CPU: every kernel with barriers runs on fibers

  /// Null or empty text gives the defaults. \throws Error{InvalidArgument} if it is not an object.
  static AotOptions parse(const char* json);
};

/// Whether LLVM was built with code generation for AMD GPUs.
bool hasAmdTarget();

/// Registers the code generators of this library once per process. Thread-safe.
void initializeTargets();

/// Makes the machine for `target`. Code for the CPU never fuses multiplication and addition on its
/// own.
/// \throws Error{InvalidArgument} for a level above 3.
std::unique_ptr<llvm::TargetMachine>
makeTargetMachine(const Target& target, const AotOptions& options, unsigned codegenOptLevel);

/// PTX versions as in assembler/ptx_version.h: the highest that the module's functions were
/// compiled for (0 if not stated), LLVM's newest, and LLVM's newest that is not above `version`.
unsigned sourcePtxVersion(const llvm::Module& module);
unsigned newestPtxVersion();
unsigned knownPtxVersion(unsigned version);

/// Returns the number N of the highest "sm_N" that the module's functions were compiled for; 0 if
/// none.
unsigned sourceArchitecture(const llvm::Module& module);

/// Gives every function of the module the machine's processor and features.
void stampTarget(llvm::Module& module, const llvm::TargetMachine& machine);

/// LLVM's name of this host's processor.
const std::string& hostCpu();
const std::string& hostFeatures();

} // namespace mneme::compile
