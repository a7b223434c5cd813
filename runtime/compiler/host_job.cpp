#include "runtime/compiler/host_job.h"

#include <llvm/IR/Constants.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include "runtime/compiler/codegen.h"
#include "runtime/compiler/image_linker.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/ir/pipeline_tuning.h"
#include "runtime/compiler/module/addresses.h"
#include "runtime/compiler/module/closure_fields.h"
#include "runtime/compiler/module/code_shape.h"
#include "runtime/compiler/module/loader.h"
#include "runtime/compiler/module/specialize.h"
#include "runtime/compiler/pass_pipeline.h"
#include "runtime/compiler/stage.h"
#include "runtime/compiler/target_machine.h"
#include "runtime/core/abi/mneme_jit_host.h"

namespace mneme::compile {
namespace {

/// The machine as clang sets it up; the rest is in the functions' attributes.
std::unique_ptr<llvm::TargetMachine> makeMachine(const llvm::Triple& triple, uint32_t level) {
  initializeTargets();
  std::string message;
  const llvm::Target* target = compat::lookupTarget(triple, message);
  if (!target || triple.getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    throw Error(ErrorCode::Unsupported,
                "the IR is for '" + triple.str() + "', which is not what this machine runs");
  if (level > 3)
    throw Error(ErrorCode::InvalidArgument,
                "the code generation level is " + std::to_string(level) + "; it must be 0 to 3");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.UseInitArray = true; // the loader knows nothing else
  auto machine = compat::createTargetMachine(*target, triple, "", "", options,
                                             static_cast<llvm::CodeGenOptLevel>(level));
  if (!machine)
    throw Error(ErrorCode::Internal, "LLVM made no target machine for '" + triple.str() + "'");
  return machine;
}

} // namespace

HostJob::HostJob(const mneme_compile_request& request)
    : request_(request), plugins_(request.passPlugins, request.passPluginCount) {
  diagnostics_.attach(context_);
}

JobOutputs HostJob::run() {
  if (plugins_.isEmpty()) // they bring names of their own
    checkPassPipeline(request_.passes);
  load();
  if (!*request_.kernel)
    return runLibrary();
  llvm::Function& function = findKernel(*module_, request_.kernel);
  if (request_.outputs & MNEME_OUTPUT_LINKED_IR)
    llvm::raw_string_ostream(outputs_.linkedIr) << *module_;
  machine_ = makeMachine(compat::moduleTriple(*module_), request_.codegenOptLevel);
  module_->setDataLayout(machine_->createDataLayout());
  module_->setPICLevel(llvm::PICLevel::BigPIC);
  if (request_.outputs & MNEME_OUTPUT_SHAPE)
    shape_ = describeShape(*module_, request_.kernel, *machine_);

  specialize(function);
  if (request_.outputs & MNEME_OUTPUT_INPUT_IR)
    llvm::raw_string_ostream(outputs_.inputIr) << *module_;
  optimize();
  if (request_.outputs & MNEME_OUTPUT_SHAPE)
    code_ = countCode(*module_);
  describe(function);
  diagnostics_.throwIfErrors(ErrorCode::CompileFailed, "optimisation failed");
  finish(ImageKind::Function);
  return std::move(outputs_);
}

void HostJob::specialize(llvm::Function& function) {
  const Stage stage("specializeIR", times_.specialize);
  const TraceText trace = request_.outputs & MNEME_OUTPUT_TRACE ? &outputs_.trace : nullptr;
  specializeArguments(function, request_.specializedArgs, request_.specializedArgCount, trace);
  if (request_.lambdaValueCount > 0) {
    runPasses(*module_, *machine_, "function(mem2reg)", {});
    llvm::SmallVector<const mneme_lambda_value*> values;
    for (size_t index = 0; index < request_.lambdaValueCount; ++index)
      values.push_back(&request_.lambdaValues[index]);
    makeFieldsConstant(function, values, trace);
  }
  if (request_.symbol && *request_.symbol)
    function.setName(request_.symbol);
}

/// A module that is a library by itself: what it does not define is looked up in the program.
JobOutputs HostJob::runLibrary() {
  if (compat::moduleTriple(*module_).getArch() == llvm::Triple::UnknownArch)
    compat::setModuleTriple(*module_, llvm::Triple(llvm::sys::getProcessTriple()));
  machine_ = makeMachine(compat::moduleTriple(*module_), request_.codegenOptLevel);
  module_->setDataLayout(machine_->createDataLayout());
  if (module_->getPICLevel() == llvm::PICLevel::NotPIC)
    module_->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function& function : *module_)
    if (!function.isDeclaration() && !function.hasFnAttribute("target-cpu")) {
      function.addFnAttr("target-cpu", hostCpu());
      function.addFnAttr("target-features", hostFeatures());
    }
  optimize();
  diagnostics_.throwIfErrors(ErrorCode::CompileFailed, "optimisation failed");
  finish(ImageKind::Library);
  return std::move(outputs_);
}

void HostJob::finish(ImageKind kind) {
  if (request_.outputs & MNEME_OUTPUT_IR)
    llvm::raw_string_ostream(outputs_.ir) << *module_;
  generate(kind);
  llvm::json::Object statistics{{"kernel", request_.kernel},
                                {"target", request_.target},
                                {"passes", request_.passes},
                                {"parse_time", times_.parse},
                                {"specialize_time", times_.specialize},
                                {"opt_time", times_.optimize},
                                {"codegen_time", times_.codegen}};
  if (!shape_.empty()) {
    statistics["shape"] = std::move(shape_);
    statistics["code"] = std::move(code_);
  }
  llvm::raw_string_ostream(outputs_.statisticsJson) << llvm::json::Value(std::move(statistics));
}

void HostJob::generate(ImageKind kind) {
  const Stage stage("Codegen", times_.codegen);
  outputs_.image = linkSharedObject(
      emitCode(*module_, *machine_, llvm::CodeGenFileType::ObjectFile, diagnostics_,
               llvm::TargetLibraryInfoImpl(machine_->getTargetTriple())),
      kind);
}

void HostJob::load() {
  if (request_.moduleCount != 1)
    throw Error(ErrorCode::InvalidArgument, "a host function is one module");
  const Stage stage("Parse IR", times_.parse);
  module_ = loadModule(request_.modules[0], "module 0", context_, diagnostics_);
  module_->setModuleIdentifier("mneme");
  module_->setSourceFileName("mneme");
}

void HostJob::optimize() {
  const Stage stage("optimizeIR", times_.optimize);
  const llvm::TargetLibraryInfoImpl library(machine_->getTargetTriple());
  runPasses(
      *module_, *machine_, request_.passes, ir::tuningFor(request_.passes, "3", {}),
      [&](llvm::PassBuilder& builder) { plugins_.addTo(builder); }, library);
  forgetShadows(*module_);
  runPasses(*module_, *machine_, "globaldce", {}, nullptr, library);
}

/// Adds mneme_host_image, through which the program finds the rest.
void HostJob::describe(llvm::Function& function) {
  const Addresses addresses = replaceAddresses(*module_);
  llvm::Type* i32 = llvm::Type::getInt32Ty(context_);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context_);
  llvm::Constant* image = llvm::ConstantStruct::getAnon(
      {llvm::ConstantInt::get(i32, MNEME_HOST_IMAGE_ABI), llvm::ConstantInt::get(i32, 0),
       llvm::ConstantInt::get(i64, addresses.count), addresses.table, addresses.fixups,
       llvm::ConstantInt::get(i64, addresses.fixupCount), &function});
  new llvm::GlobalVariable(*module_, image->getType(), true, llvm::GlobalValue::ExternalLinkage,
                           image, MNEME_HOST_IMAGE_SYMBOL);
}

} // namespace mneme::compile
