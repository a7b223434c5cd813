// The last part of a compilation: machine code and the report about it.
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "runtime/compiler/amd/carried_ir.h"
#include "runtime/compiler/assembler/ptx_version.h"
#include "runtime/compiler/codegen.h"
#include "runtime/compiler/compile_job.h"
#include "runtime/compiler/image_linker.h"
#include "runtime/compiler/stage.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/image_hash.h"

namespace mneme::compile {

void CompileJob::generate() {
  // Code generation changes the module.
  const bool isDescribed = target_.kind == TargetKind::Amd && !isUnit();
  const auto copy = isDescribed ? llvm::CloneModule(*module_) : nullptr;
  {
    const Stage stage("Codegen", times_.codegen);
    if (target_.kind == TargetKind::Ptx)
      generatePtx();
    else if (target_.kind == TargetKind::Amd)
      generateAmd();
    else
      generateHost();
  }
  if (copy)
    describeAmd(*copy);
}

void CompileJob::generatePtx() {
  AssemblyRequest assembly;
  {
    const Stage stage("Codegen ptx", times_.emit);
    const Remarks::Listening listening(remarks());
    assembly.ptx = emitCode(*module_, *machine_, llvm::CodeGenFileType::AssemblyFile, diagnostics_);
  }
  if (request_.outputs & MNEME_OUTPUT_ASSEMBLY)
    outputs_.assembly = assembly.ptx;
  if (!assembler_) {
    outputs_.image = std::move(assembly.ptx);
    for (const std::string& option : options_.assemblerOptions)
      refused_.push_back("-Xcuda-ptxas " + option);
    return;
  }
  assembly.kernel = kernelName();
  assembly.arch = target_.cpu;
  assembly.optLevel = assemblerLevel();
  assembly.maxRegisters = maxRegisters_;
  assembly.options = assemblerOptions_;
  const Stage stage("Codegen CUDA RTC", times_.assemble);
  Assembly assembled = assembler_->assemble(assembly);
  outputs_.image = std::move(assembled.cubin);
  usage_ = assembled.usage;
}

/// clang's driver has levels of its own for ptxas, and the user may have another one.
unsigned CompileJob::assemblerLevel() const {
  const llvm::StringRef own = ir::codegenLevelOf(options_.optLevel);
  unsigned level = 0;
  if (isAsBuilt() && own == std::to_string(request_.codegenOptLevel) &&
      !llvm::StringRef(options_.assemblerLevel).getAsInteger(10, level) && level <= 3)
    return level;
  return request_.codegenOptLevel;
}

void CompileJob::generateAmd() {
  carryIrIfAsked(*module_);
  std::string object;
  {
    const Stage stage("Codegen object", times_.emit);
    const Remarks::Listening listening(remarks());
    object = emitCode(*module_, *machine_, llvm::CodeGenFileType::ObjectFile, diagnostics_);
  }
  const Stage stage("Codegen linking", times_.assemble);
  outputs_.image = linkSharedObject(object, ImageKind::CodeObject);
}

/// What the kernel uses. Only the comments of its assembly say how many waves fit.
void CompileJob::describeAmd(llvm::Module& copy) {
  std::string assembly =
      emitCode(copy, *machine_, llvm::CodeGenFileType::AssemblyFile, diagnostics_);
  amdUsage_ = usageInCodeObject(outputs_.image, kernelName());
  amdUsage_.occupancy = occupancyIn(assembly, kernelName());
  usage_.registers = amdUsage_.vgprs;
  usage_.sharedBytes = amdUsage_.ldsBytes;
  usage_.localBytes = amdUsage_.scratchBytes;
  if (request_.outputs & MNEME_OUTPUT_ASSEMBLY)
    outputs_.assembly = std::move(assembly);
}

void CompileJob::generateHost() {
  if (request_.outputs & MNEME_OUTPUT_ASSEMBLY) {
    const auto copy = llvm::CloneModule(*module_);
    outputs_.assembly =
        emitCode(*copy, *machine_, llvm::CodeGenFileType::AssemblyFile, diagnostics_);
  }
  std::string object;
  {
    const Stage stage("Codegen object", times_.emit);
    const Remarks::Listening listening(remarks());
    object = emitCode(*module_, *machine_, llvm::CodeGenFileType::ObjectFile, diagnostics_);
  }
  const Stage stage("Codegen linking", times_.assemble);
  outputs_.image = linkSharedObject(object);
}

/// What the reference tool's timers call the parts of generating code.
llvm::json::Array CompileJob::codegenParts() const {
  const auto part = [](const char* word, double seconds) {
    return llvm::json::Object{{"word", word}, {"time", seconds}};
  };
  if (isForAmd_)
    return llvm::json::Array{part("Codegen RTC", times_.codegen)};
  return llvm::json::Array{part("Codegen ptx", times_.emit),
                           part("Codegen CUDA RTC", times_.assemble)};
}

std::string CompileJob::statistics() {
  llvm::json::Object object{
      {"kernel", request_.kernel},
      {"target", request_.target},
      {"preprocess_ir_time", times_.preprocess},
      {"parse_time", times_.parse},
      {"link_time", times_.link},
      {"clone_time", times_.clone},
      {"extract_time", times_.extract},
      {"specialize_time", times_.specialize},
      {"opt_time", times_.optimize},
      {"codegen_time", times_.codegen},
      {"codegen_parts", codegenParts()},
      {"obj_size", static_cast<int64_t>(outputs_.image.size())},
      {"reg_usage", static_cast<int64_t>(usage_.registers)},
      {"local_mem_usage", static_cast<int64_t>(usage_.localBytes)},
      {"const_mem_usage", static_cast<int64_t>(usage_.constantBytes)},
      {"shared_mem_usage", static_cast<int64_t>(usage_.sharedBytes)},
      {"ir_hash", irHash_},
      {"image_hash", imageHash(std::as_bytes(std::span(outputs_.image)), request_.sharedCarveout)},
      {"passes", request_.passes},
      {"refused_options", llvm::json::Array(refused_)},
      {"unrecorded_reads", llvm::json::Array(unrecordedReads_)},
      {"target_cpu", machine_->getTargetCPU()},
  };
  if (target_.kind == TargetKind::Ptx) {
    object["spill_store_bytes"] = static_cast<int64_t>(usage_.spillStoreBytes);
    object["spill_load_bytes"] = static_cast<int64_t>(usage_.spillLoadBytes);
    object["stack_bytes"] = static_cast<int64_t>(usage_.stackBytes);
    object["ptx_version"] = ptxText(ptxVersion_);
    object["assembler"] = assembler_ ? assembler_->version().name : "driver";
    object["assemble_time"] = times_.assemble;
  }
  if (target_.kind == TargetKind::Amd && !isUnit()) {
    object["target_id"] = amdUsage_.targetId;
    object["vgpr_count"] = amdUsage_.vgprs;
    object["agpr_count"] = amdUsage_.agprs;
    object["sgpr_count"] = amdUsage_.sgprs;
    object["vgpr_spill_count"] = amdUsage_.vgprSpills;
    object["sgpr_spill_count"] = amdUsage_.sgprSpills;
    object["wavefront_size"] = amdUsage_.waveSize;
    object["max_workgroup_size"] = amdUsage_.maxWorkGroup;
    object["occupancy"] = amdUsage_.occupancy;
  }
  if (passRuns_ && passRuns_->isOn)
    object["pass_runs"] = llvm::json::Object{{"count", static_cast<int64_t>(passRuns_->count)},
                                             {"ran", static_cast<int64_t>(passRuns_->ran)},
                                             {"last", passRuns_->last},
                                             {"next", passRuns_->next}};
  if (request_.outputs & MNEME_OUTPUT_SHAPE) {
    object["shape"] = std::move(shape_);
    object["code"] = std::move(code_);
  }
  if (request_.outputs & MNEME_OUTPUT_ELEMENTS)
    object["elements"] = std::move(elements_);
  if (reasons_) {
    object["reasons"] = reasons_->json();
    object["emit_time"] = times_.emit;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::json::Value(std::move(object));
  return text;
}

} // namespace mneme::compile
