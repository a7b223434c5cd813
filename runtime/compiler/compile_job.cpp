#include "runtime/compiler/compile_job.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/Support/raw_ostream.h>

#include "passes/unrecorded_reads.h"
#include "runtime/compiler/amd/device_library.h"
#include "runtime/compiler/amd/object_version.h"
#include "runtime/compiler/amd/target_id.h"
#include "runtime/compiler/assembler/ptx_version.h"
#include "runtime/compiler/assembler/remembering.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/ir/function_cells.h"
#include "runtime/compiler/ir/line_directives.h"
#include "runtime/compiler/ir/module_machine.h"
#include "runtime/compiler/ir/opt_bisect.h"
#include "runtime/compiler/ir/pipeline_tuning.h"
#include "runtime/compiler/ir/prune.h"
#include "runtime/compiler/llvm_options.h"
#include "runtime/compiler/module/closure_fields.h"
#include "runtime/compiler/module/code_shape.h"
#include "runtime/compiler/module/elements.h"
#include "runtime/compiler/module/loader.h"
#include "runtime/compiler/module/other_callers.h"
#include "runtime/compiler/module/placed_globals.h"
#include "runtime/compiler/module/shared_arrays.h"
#include "runtime/compiler/module/specialize.h"
#include "runtime/compiler/module/struct_members.h"
#include "runtime/compiler/module/unit.h"
#include "runtime/compiler/module/variables_kernel.h"
#include "runtime/compiler/pass_pipeline.h"
#include "runtime/compiler/stage.h"
#include "runtime/core/abi/variable_names.h"
#include "runtime/core/base/hash.h"
#include "runtime/emulator/lowering/lower_for_cpu.h"

namespace mneme::compile {
namespace {

std::string printed(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string hashOf(llvm::StringRef bytes) {
  return toHex(hash128(std::as_bytes(std::span(bytes.data(), bytes.size()))));
}

std::string bitcodeHash(const llvm::Module& module) {
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return hashOf(bitcode);
}

void checkDimensions(const mneme_compile_request& request) {
  for (unsigned axis = 0; axis < 3; ++axis)
    if (request.grid[axis] == 0 || request.block[axis] == 0)
      throw Error(ErrorCode::InvalidArgument,
                  "the request specialises dimensions, but a grid or block dimension is 0");
}

/// A limit of registers in an option of ptxas; 0 if it is none.
uint32_t maxRegistersIn(llvm::StringRef option) {
  uint32_t limit = 0;
  option = option.ltrim('-');
  return option.consume_front("maxrregcount=") && !option.getAsInteger(10, limit) ? limit : 0;
}

/// Text that was written by hand may leave this out.
void setDeviceTriple(llvm::Module& module, const std::string& triple) {
  compat::setModuleTriple(module,
                          llvm::Triple(triple.empty() ? "nvptx64-nvidia-cuda" : triple.c_str()));
}

/// Constants that are nowhere in the program, since its own code does without them, and whose
/// content is nothing (threadIdx of HIP's headers) or never changed, are the image's own.
void defineConstants(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.hasAvailableExternallyLinkage() && variable.isConstant() &&
        (!variable.isExternallyInitialized() ||
         llvm::isa<llvm::UndefValue>(variable.getInitializer())))
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// Defines constants without content before the optimiser takes them for declarations.
void defineEmptyConstants(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.hasAvailableExternallyLinkage() && variable.isConstant() &&
        llvm::isa<llvm::UndefValue>(variable.getInitializer()))
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// The CPU device gives a kernel another signature, so device code cannot call or launch it.
void checkOnlyLaunched(const llvm::Function& kernel) {
  const bool isCalled = llvm::any_of(
      kernel.users(), [](const llvm::User* user) { return llvm::isa<llvm::CallBase>(user); });
  if (isCalled || kernel.hasAddressTaken(nullptr, false, false, true))
    throw Error(ErrorCode::Unsupported, "kernel '" + kernel.getName().str() +
                                            "' is called or launched by device code, which the "
                                            "CPU device cannot do");
}

} // namespace

CompileJob::CompileJob(const mneme_compile_request& request)
    : request_(request), plugins_(request.passPlugins, request.passPluginCount),
      reasons_(request.outputs & MNEME_OUTPUT_REASONS ? std::make_unique<Reasons>() : nullptr) {
  diagnostics_.attach(context_, remarks());
}

JobOutputs CompileJob::run() {
  const bool onlyChecks = request_.outputs == MNEME_OUTPUT_CHECK;
  const std::string llvmOptionsAsked = request_.llvmOptions ? request_.llvmOptions : "";
  if (plugins_.isEmpty())
    checkPassPipeline(request_.passes);
  else if (onlyChecks)
    checkPassPipeline(request_.passes, plugins_);
  if (onlyChecks) {
    const LlvmOptions checked({}, llvmOptionsAsked);
    return std::move(outputs_);
  }
  target_ = Target::parse(request_.target);
  options_ = AotOptions::parse(request_.optionsJson);

  const LlvmOptions llvmOptions(target_.isGpu() ? options_.llvmOptions : std::vector<std::string>(),
                                llvmOptionsAsked);
  for (const std::string& option : llvmOptions.refused())
    refused_.push_back("-mllvm -" + option);
  prepare();
  if (isUnit() && target_.kind == TargetKind::Cpu)
    // The CPU device compiles each kernel when it is launched first.
    outputs_.image = blobObject(*module_, diagnostics_);
  else if (makesCode())
    makeCode();
  outputs_.statisticsJson = statistics();
  return std::move(outputs_);
}

void CompileJob::makeCode() {
  {
    const Stage stage("optimizeIR", times_.optimize);
    optimize();
  }
  irHash_ = bitcodeHash(*module_);
  if (request_.outputs & MNEME_OUTPUT_SHAPE)
    code_ = countCode(*module_);
  if (reasons_)
    reasons_->describe(*module_, *machine_);
  if (request_.outputs & MNEME_OUTPUT_IR)
    outputs_.ir = printed(*module_);
  generate();
}

/// Makes of the request's bytes what the pipeline begins with.
void CompileJob::prepare() {
  const Stage stage("prepareIR", times_.preprocess);
  preprocess();
  if (request_.codeObjectVersion && target_.kind != TargetKind::Amd)
    throw Error(ErrorCode::InvalidArgument,
                "a version of code objects is given, but only code for AMD GPUs has one");
  if (target_.kind == TargetKind::Ptx)
    chooseAssembler();
  else if (target_.kind == TargetKind::Amd)
    chooseAmdFeatures();
  machine_ = makeTargetMachine(target_, options_, request_.codegenOptLevel);
  if (request_.outputs & MNEME_OUTPUT_SHAPE)
    shape_ = describeShape(*module_, request_.kernel, *machine_);
  if (request_.outputs & MNEME_OUTPUT_ELEMENTS)
    elements_ = describeElements(*module_, request_.kernel, *machine_);
  if (!makesCode())
    return;
  if (target_.kind == TargetKind::Cpu) {
    if (!isUnit())
      lowerForCpu();
  } else {
    compat::setModuleTriple(*module_, machine_->getTargetTriple());
    module_->setDataLayout(machine_->createDataLayout());
    stampTarget(*module_, *machine_);
    if (target_.kind == TargetKind::Ptx && ir::keepLineDirectives(*module_))
      assemblerOptions_.push_back("-lineinfo");
  }
}

void CompileJob::optimize() {
  const Remarks::Listening listening(remarks());
  runPasses(*module_, *machine_, request_.passes, tuning(), [&](llvm::PassBuilder& builder) {
    plugins_.addTo(builder);
    passRuns_ = ir::registerOptBisect(builder);
    if (reasons_)
      reasons_->watch(builder);
    if (isDetached_)
      pointers_.registerFolding(builder);
  });
  if (isAsBuilt())
    removeOtherCallers(*module_);
  placeLate();
  if (request_.prune && request_.internalize && target_.isGpu() && !isDetached_ && !isUnit() &&
      llvm::none_of(module_->globals(), ir::isFunctionCell))
    ir::eraseUncalled(*module_, findKernel(*module_, kernelName()));
  diagnostics_.throwIfErrors(ErrorCode::CompileFailed, "optimisation failed");
}

/// Nothing is asked for but the kernel as the program runs it.
bool CompileJob::isAsBuilt() const {
  return target_.isGpu() && !options_.optLevel.empty() &&
         ir::withoutOptBisect(request_.passes) == "default<O" + options_.optLevel + ">" &&
         request_.specializedArgCount == 0 && !request_.specializeDims && !request_.setLaunchBounds;
}

/// The processor that kernels of a unit are for where they do not say it.
std::string CompileJob::unitArch(const llvm::Triple& triple) const {
  if (target_.isGpu())
    return target_.cpu;
  return triple.isAMDGCN() ? "gfx90a" : "sm_90";
}

const char* CompileJob::kernelName() const {
  return request_.symbol && *request_.symbol ? request_.symbol : request_.kernel;
}

void CompileJob::load() {
  std::vector<std::unique_ptr<llvm::Module>> modules;
  {
    // Anew for every request: this takes a third to two thirds of a millisecond of six to seventy,
    // and a context that all shared would grow, and not outlive a compilation that crashes.
    const Stage stage("Parse IR", times_.parse);
    modules = loadAll(request_.modules, request_.moduleCount, context_, diagnostics_);
  }
  const Stage stage("getLinkedModule", times_.link);
  module_ = link(std::move(modules), diagnostics_, /*keepsUnitsApart=*/isAsBuilt());
}

/// Leaves what the kernel needs.
void CompileJob::extract(llvm::Function& kernel) {
  if (request_.prune) {
    const Stage stage("Cloning", times_.clone);
    ir::pruneTo(*module_, kernel);
  }
  const Stage stage("Extract kernel module", times_.extract);
  if (request_.internalize)
    ir::internalizeExcept(*module_, kernel, options_.ownFunctions);
}

void CompileJob::preprocess() {
  load();
  if (compat::moduleTriple(*module_).getArch() == llvm::Triple::UnknownArch)
    setDeviceTriple(*module_, options_.triple);
  const llvm::Triple triple = compat::moduleTriple(*module_);
  if (!triple.isNVPTX() && !triple.isAMDGCN())
    throw Error(ErrorCode::Unsupported, "the IR is for '" + triple.str() +
                                            "'; only nvptx64 and amdgcn kernels can be compiled");
  isForAmd_ = triple.isAMDGCN();
  checkVendor(triple);
  if (isUnitsOwnCode()) {
    if (target_.kind != TargetKind::Ptx)
      throw Error(ErrorCode::Unsupported,
                  "the code of a whole unit can be compiled for NVIDIA GPUs only");
    defineVariables(*module_);
    return;
  }
  if (isUnit()) {
    if (target_.kind == TargetKind::Amd)
      linkAmdDeviceLibrary(*module_, target_.cpu, diagnostics_);
    becomeUnit(*module_, unitArch(triple), diagnostics_);
    return;
  }
  if (target_.kind == TargetKind::Cpu && request_.kernel == llvm::StringRef(kVariablesKernel))
    addVariablesKernel(*module_);
  llvm::Function& kernel = findKernel(*module_, request_.kernel);
  extract(kernel);
  unrecordedReads_ = passes::unrecordedReads(*module_);
  if (request_.outputs & MNEME_OUTPUT_LINKED_IR)
    outputs_.linkedIr = printed(*module_);
  if (target_.isGpu())
    placeEarly();
  specialize(kernel);
  if (request_.outputs & MNEME_OUTPUT_INPUT_IR)
    outputs_.inputIr = printed(*module_);
  if (isAsBuilt())
    addOtherCallers(*module_, options_.sharedFunctions);
  if (target_.kind == TargetKind::Ptx)
    isDetached_ = pointers_.detach(*module_);
}

/// A GPU runs code of its own vendor only.
void CompileJob::checkVendor(const llvm::Triple& triple) const {
  const bool isOther =
      isForAmd_ ? target_.kind == TargetKind::Ptx : target_.kind == TargetKind::Amd;
  if (isOther)
    throw Error(ErrorCode::Unsupported, "the IR is for '" + triple.str() +
                                            "'; it can be compiled for " +
                                            (isForAmd_ ? "gfx<number>" : "sm_<number>") +
                                            " or the CPU, not for '" + request_.target + "'");
}

void CompileJob::specialize(llvm::Function& kernel) {
  const Stage stage("specializeIR", times_.specialize);
  const TraceText trace = request_.outputs & MNEME_OUTPUT_TRACE ? &outputs_.trace : nullptr;
  specializeArguments(kernel, request_.specializedArgs, request_.specializedArgCount, trace);
  specializeLambdas(kernel, trace);
  specializeSharedArrays(*module_, trace);
  specializeDimensions(trace);
  specializeStructs(kernel, trace); // inlines the functions that the others look for
  if (request_.setLaunchBounds) {
    const uint32_t threads = request_.maxThreads
                                 ? request_.maxThreads
                                 : request_.block[0] * request_.block[1] * request_.block[2];
    setLaunchBounds(kernel, threads, request_.minBlocksPerSm, trace);
  }
  if (target_.isGpu())
    kernel.setName(kernelName());
}

/// For the CPU device, too, the code is still that of a GPU.
std::unique_ptr<llvm::TargetMachine> CompileJob::ownMachine() const {
  std::unique_ptr<llvm::TargetMachine> machine = ir::machineFor(*module_);
  if (!machine)
    throw Error(ErrorCode::Internal,
                "this LLVM makes no code for '" + compat::moduleTriple(*module_).str() + "'");
  return machine;
}

void CompileJob::specializeLambdas(llvm::Function& kernel, TraceText trace) {
  if (request_.lambdaValueCount > 0)
    specializeClosures(kernel, {request_.lambdaValues, request_.lambdaValueCount}, *ownMachine(),
                       trace);
}

void CompileJob::specializeStructs(llvm::Function& kernel, TraceText trace) {
  const llvm::ArrayRef values(request_.specializedArgs, request_.specializedArgCount);
  const auto isMember = [](const mneme_arg_value& value) {
    return value.content == MNEME_CONSTANT_MEMBER;
  };
  if (llvm::none_of(values, isMember))
    return;
  specializeMembers(kernel, values, *ownMachine(), trace);
}

void CompileJob::specializeDimensions(TraceText trace) {
  if (!request_.specializeDims && !request_.boundIndices)
    return;
  checkDimensions(request_);
  if (request_.specializeDims)
    foldDimensions(*module_, request_.grid, request_.block, trace);
  // Bounds hold wherever dimensions do; they are traced only if they were requested.
  boundIndices(*module_, request_.grid, request_.block, request_.boundIndices ? trace : nullptr);
}

/// What the program never changes keeps its content for the optimiser.
void CompileJob::placeEarly() {
  std::vector<mneme_global_place> places;
  for (size_t index = 0; index < request_.placedGlobalCount; ++index) {
    const mneme_global_place& place = request_.placedGlobals[index];
    const llvm::GlobalVariable* variable =
        place.name ? module_->getNamedGlobal(place.name) : nullptr;
    const bool isLate = variable && (ir::isFunctionCell(*variable) ||
                                     (variable->isConstant() && variable->hasInitializer() &&
                                      !variable->isExternallyInitialized()));
    (isLate ? latePlaces_ : places).push_back(place);
  }
  placeGlobals(*module_, places.data(), places.size());
  if (target_.kind == TargetKind::Amd)
    defineEmptyConstants(*module_);
}

/// After the pass pipeline, functions and tables of them become those of the program.
void CompileJob::placeLate() {
  const bool isKnown =
      llvm::any_of(latePlaces_, [](const mneme_global_place& place) { return place.address != 0; });
  if (isDetached_)
    pointers_.attach(*module_, /*trapsOnUnknown=*/isKnown);
  placeGlobals(*module_, latePlaces_.data(), latePlaces_.size());
  if (target_.kind == TargetKind::Amd)
    defineConstants(*module_);
  if (isDetached_)
    runPasses(*module_, *machine_, "globaldce", tuning());
}

/// On the CPU nothing that rounds otherwise is left to the pipeline: it may do what it can.
llvm::PipelineTuningOptions CompileJob::tuning() const {
  if (target_.kind == TargetKind::Cpu)
    return {};
  return ir::tuningFor(request_.passes, options_.optLevel, options_.loops);
}

void CompileJob::lowerForCpu() {
  if (llvm::any_of(module_->globals(), ir::isFunctionCell)) {
    cpu::cleanUp(*module_); // a pointer that is a constant is one now
    FunctionPointers::lower(*module_);
  }
  checkOnlyLaunched(findKernel(*module_, request_.kernel));
  CpuLoweringOptions lowering;
  lowering.kernel = request_.kernel;
  if (const unsigned arch = sourceArchitecture(*module_))
    lowering.arch = arch;
  lowering.flushDenormals = options_.flushDenormals;
  lowering.preciseDivision = options_.preciseDivision;
  lowering.preciseSqrt = options_.preciseSqrt;
  lowering.fibersOnly = options_.fibersOnly;
  lowering.targetCpu = machine_->getTargetCPU().str();
  lowering.targetFeatures = machine_->getTargetFeatureString().str();
  const CpuLoweringResult lowered = lowerToCpu(*module_, *machine_, lowering);
  if (kernelName() !=
      request_.kernel) // images have entries of their own: for who looks at the code
    for (const char* entry : {"mneme.run.block", "mneme.run.thread"})
      if (llvm::Function* function = module_->getFunction(entry))
        function->setName(kernelName());
  usage_.localBytes = lowered.localBytes;
  usage_.constantBytes = lowered.constantBytes;
}

void CompileJob::chooseAssembler() {
  addProgramsAssemblerOptions();
  std::vector<std::string> wanted = checkedOptions(request_.assemblerOptions);
  assembler_ = openAssembler(takeAssembler(wanted));
  assemblerOptions_.insert(assemblerOptions_.end(), wanted.begin(),
                           wanted.end()); // the last counts
  sourcePtx_ = std::max(sourcePtxVersion(*module_), options_.ptxVersion);
  if (assembler_) {
    const AssemblerVersion& version = assembler_->version();
    ptxVersion_ = choosePtxVersion(target_.cpu, sourcePtx_, ptxOfCuda(version.major, version.minor),
                                   newestPtxVersion(), version.name);
  } else {
    const unsigned accepted = std::max(kDriverPtx, ptxOfArchitecture(target_.cpu));
    ptxVersion_ =
        choosePtxVersion(target_.cpu, sourcePtx_, accepted, newestPtxVersion(), "the driver");
  }
  ptxVersion_ = knownPtxVersion(ptxVersion_);
  target_.features = "+ptx" + std::to_string(ptxVersion_);
}

/// What the program's build gave ptxas, as far as a recording may say it.
void CompileJob::addProgramsAssemblerOptions() {
  maxRegisters_ = request_.maxRegisters;
  for (const std::string& option : options_.assemblerOptions) {
    if (const uint32_t limit = maxRegistersIn(option)) {
      maxRegisters_ = request_.maxRegisters ? request_.maxRegisters : limit;
      continue;
    }
    try {
      std::vector<std::string> checked = checkedOptions(option.c_str());
      const size_t count = checked.size();
      takeAssembler(checked); // a recording must not choose what runs here
      if (checked.size() != count)
        throw Error(ErrorCode::InvalidArgument, "a program names its ptxas");
      assemblerOptions_.insert(assemblerOptions_.end(), checked.begin(), checked.end());
    } catch (const Error&) {
      refused_.push_back("-Xcuda-ptxas " + option);
    }
  }
}

void CompileJob::chooseAmdFeatures() {
  if (request_.assemblerOptions && *request_.assemblerOptions)
    throw Error(ErrorCode::InvalidArgument,
                "options for an assembler are given, but none makes code for AMD GPUs");
  target_.features = amdFeatures(*module_, target_.cpu, target_.features);
  // Modules made at run time need not say it: every ROCm that mneme runs on loads version 5.
  const bool isOpen = isUnit() && request_.codeObjectVersion == 0 && !saysObjectVersion(*module_);
  chooseObjectVersion(*module_, isOpen ? 5 : request_.codeObjectVersion, target_.cpu);
  if (request_.maxRegisters)
    findKernel(*module_, kernelName())
        .addFnAttr("amdgpu-num-vgpr", std::to_string(request_.maxRegisters));
}

std::string CompileJob::hint() const {
  if (ptxVersion_ >= sourcePtx_)
    return {};
  return "; the IR was compiled for PTX " + ptxText(sourcePtx_) + ", and " +
         (assembler_ ? assembler_->version().name + " accepts up to PTX " + ptxText(ptxVersion_) +
                           ": install a newer CUDA toolkit"
                     : "without ptxas or nvJitLink PTX " + ptxText(ptxVersion_) +
                           " is written: install a CUDA toolkit or set CUDA_HOME");
}

} // namespace mneme::compile
