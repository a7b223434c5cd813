#include "runtime/compiler/target_machine.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "runtime/compiler/amd/target_id.h"
#include "runtime/compiler/diagnostics.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/core/base/error.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser(); // code generation reads inline assembly with it
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace mneme::compile {
namespace {

llvm::Triple tripleOf(TargetKind kind) {
  switch (kind) {
  case TargetKind::Ptx:
    return llvm::Triple("nvptx64-nvidia-cuda");
  case TargetKind::Amd:
    return llvm::Triple("amdgcn-amd-amdhsa");
  case TargetKind::Cpu:
    break;
  }
  return llvm::Triple(llvm::sys::getProcessTriple());
}

const llvm::Target& llvmTarget(const llvm::Triple& triple) {
  std::string message;
  const llvm::Target* target = compat::lookupTarget(triple, message);
  if (!target)
    throw Error(ErrorCode::Internal, "no code generator for '" + triple.str() + "': " + message);
  return *target;
}

/// A machine of no processor in particular, to ask what LLVM knows.
const llvm::MCSubtargetInfo& knowledgeOf(TargetKind kind) {
  const auto make = [](TargetKind wanted) {
    const llvm::Triple triple = tripleOf(wanted);
    return compat::createTargetMachine(llvmTarget(triple), triple, "", "", llvm::TargetOptions(),
                                       llvm::CodeGenOptLevel::None)
        .release(); // lives as long as the process
  };
  if (kind == TargetKind::Cpu) {
    static const llvm::TargetMachine& machine = *make(TargetKind::Cpu);
    return *machine.getMCSubtargetInfo();
  }
  if (kind == TargetKind::Amd) {
    static const llvm::TargetMachine& machine = *make(TargetKind::Amd);
    return *machine.getMCSubtargetInfo();
  }
  static const llvm::TargetMachine& machine = *make(TargetKind::Ptx);
  return *machine.getMCSubtargetInfo();
}

void checkCpuName(const Target& target, const std::string& asGiven) {
  if (!knowledgeOf(target.kind).isCPUStringValid(target.cpu))
    throw Error(ErrorCode::InvalidArgument,
                "target '" + asGiven + "' names a processor LLVM does not know");
}

/// Highest number behind `prefix` in a comma separated list such as "+ptx88,+sm_90".
unsigned highestNumber(llvm::StringRef text, llvm::StringRef prefix) {
  unsigned highest = 0;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    unsigned number = 0;
    if (part.consume_front(prefix) && !part.consumeInteger(10, number))
      highest = std::max(highest, number);
  }
  return highest;
}

const std::vector<unsigned>& knownPtxVersions() {
  static const std::vector<unsigned> versions = [] {
    std::vector<unsigned> found;
    for (const auto& feature : knowledgeOf(TargetKind::Ptx).getAllProcessorFeatures())
      if (const unsigned version = highestNumber(feature.Key, "ptx"))
        found.push_back(version);
    std::sort(found.begin(), found.end());
    return found;
  }();
  return versions;
}

llvm::FPOpFusion::FPOpFusionMode fusionMode(TargetKind kind, const AotOptions& options) {
  if (kind == TargetKind::Cpu)
    return llvm::FPOpFusion::Strict;
  // As clang does: unless all is fused, only what its front end contracted or lets be contracted.
  return options.fusesEverywhere ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Standard;
}

/// The texts of a list; none of a list that is not there.
std::vector<std::string> textsOf(const llvm::json::Array* list) {
  std::vector<std::string> texts;
  if (list)
    for (const llvm::json::Value& value : *list)
      if (const std::optional<llvm::StringRef> text = value.getAsString())
        texts.push_back(text->str());
  return texts;
}

std::vector<SharedFunction> sharedFunctionsIn(const llvm::json::Object* object) {
  std::vector<SharedFunction> functions;
  if (object)
    for (const auto& [name, agreed] : *object) {
      SharedFunction function{name.str(), {}};
      if (const llvm::json::Array* numbers = agreed.getAsArray())
        for (const llvm::json::Value& number : *numbers)
          if (const std::optional<uint64_t> index = number.getAsUINT64())
            function.agreed.push_back(static_cast<unsigned>(*index));
      functions.push_back(std::move(function));
    }
  llvm::sort(functions, [](const auto& a, const auto& b) { return a.name < b.name; });
  return functions;
}

/// clang gives this to every compilation for a GPU; without it MemCpyOpt needs memcpy to be known.
void optimizeCopiesWithoutLibrary() {
  const auto options = llvm::cl::getRegisteredOptions();
  if (const auto found = options.find("enable-memcpyopt-without-libcalls"); found != options.end())
    static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(true);
}

} // namespace

Target Target::parse(const std::string& name) {
  initializeTargets();
  Target target;
  if (name == "cpu") {
    target.cpu = hostCpu();
    target.features = hostFeatures();
    return target;
  }
  if (name.rfind("cpu:", 0) == 0) {
    target.cpu = name.substr(4);
    checkCpuName(target, name);
    return target;
  }
  if (name.rfind("sm_", 0) == 0) {
    target.kind = TargetKind::Ptx;
    target.cpu = name;
    checkCpuName(target, name);
    return target;
  }
  if (name.rfind("gfx", 0) == 0) {
    if (!hasAmdTarget())
      throw Error(ErrorCode::Unsupported,
                  "target '" + name + "': the LLVM that mneme was built with has no AMDGPU target");
    target.kind = TargetKind::Amd;
    std::tie(target.cpu, target.features) = splitTargetId(name);
    checkCpuName(target, name);
    return target;
  }
  throw Error(ErrorCode::InvalidArgument,
              "unknown target '" + name +
                  "'; known are cpu, cpu:<processor>, sm_<number> and gfx<number>");
}

AotOptions AotOptions::parse(const char* json) {
  AotOptions options;
  if (!json || !*json)
    return options;
  const auto value = orThrow(llvm::json::parse(json), ErrorCode::InvalidArgument,
                             "the options of the request are not JSON");
  const llvm::json::Object* object = value.getAsObject();
  if (!object)
    throw Error(ErrorCode::InvalidArgument, "the options of the request are not a JSON object");
  const llvm::StringRef contract = object->getString("fp_contract").value_or("fast");
  if (!llvm::is_contained({"fast", "fast-honor-pragmas", "on", "off"}, contract))
    throw Error(ErrorCode::InvalidArgument,
                "option fp_contract is '" + contract.str() +
                    "'; known are on, fast, fast-honor-pragmas and off");
  options.fusesEverywhere = contract == "fast";
  options.optLevel = object->getString("opt_level").value_or("").str();
  options.loops = {object->getBoolean("unroll_loops"), object->getBoolean("interleave_loops"),
                   object->getBoolean("vectorize_loops"), object->getBoolean("vectorize_slp")};
  options.ownFunctions = textsOf(object->getArray("own_functions"));
  options.sharedFunctions = sharedFunctionsIn(object->getObject("shared_functions"));
  options.ptxVersion = unsigned(object->getInteger("ptx_version").value_or(0));
  options.llvmOptions = textsOf(object->getArray("llvm_options"));
  options.assemblerLevel = object->getString("assembler_level").value_or("").str();
  options.assemblerOptions = textsOf(object->getArray("assembler_options"));
  options.flushDenormals = object->getBoolean("flush_denormals").value_or(false);
  options.preciseDivision = object->getBoolean("precise_division").value_or(true);
  options.preciseSqrt = object->getBoolean("precise_sqrt").value_or(true);
  options.triple = object->getString("triple").value_or("").str();
  options.fibersOnly = object->getBoolean("fibers_only").value_or(false);
  return options;
}

bool hasAmdTarget() {
#ifdef MNEME_LLVM_HAS_AMDGPU
  return true;
#else
  return false;
#endif
}

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
#ifdef MNEME_LLVM_HAS_AMDGPU
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
#endif
    optimizeCopiesWithoutLibrary();
  });
}

std::unique_ptr<llvm::TargetMachine>
makeTargetMachine(const Target& target, const AotOptions& options, unsigned codegenOptLevel) {
  if (codegenOptLevel > 3)
    throw Error(ErrorCode::InvalidArgument, "the code generation level is " +
                                                std::to_string(codegenOptLevel) +
                                                "; it must be 0 to 3");
  llvm::TargetOptions llvmOptions;
  llvmOptions.AllowFPOpFusion = fusionMode(target.kind, options);
  llvmOptions.MCOptions.AsmVerbose = true;
  const llvm::Triple triple = tripleOf(target.kind);
  auto machine =
      compat::createTargetMachine(llvmTarget(triple), triple, target.cpu, target.features,
                                  llvmOptions, static_cast<llvm::CodeGenOptLevel>(codegenOptLevel));
  if (!machine)
    throw Error(ErrorCode::Internal, "LLVM made no target machine for '" + target.cpu + "'");
  return machine;
}

unsigned sourcePtxVersion(const llvm::Module& module) {
  unsigned version = 0;
  for (const llvm::Function& function : module)
    if (function.hasFnAttribute("target-features"))
      version = std::max(
          version,
          highestNumber(function.getFnAttribute("target-features").getValueAsString(), "+ptx"));
  return version;
}

unsigned newestPtxVersion() { return knownPtxVersions().back(); }

unsigned knownPtxVersion(unsigned version) {
  unsigned best = knownPtxVersions().front();
  for (const unsigned known : knownPtxVersions())
    if (known <= version)
      best = known;
  return best;
}

unsigned sourceArchitecture(const llvm::Module& module) {
  unsigned highest = 0;
  for (const llvm::Function& function : module)
    if (function.hasFnAttribute("target-cpu"))
      highest = std::max(
          highest, highestNumber(function.getFnAttribute("target-cpu").getValueAsString(), "sm_"));
  return highest;
}

void stampTarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  for (llvm::Function& function : module) {
    if (function.isIntrinsic())
      continue;
    function.removeFnAttr("tune-cpu");
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (machine.getTargetFeatureString().empty())
      function.removeFnAttr("target-features");
    else
      function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
}

const std::string& hostCpu() {
  static const std::string name = llvm::sys::getHostCPUName().str();
  return name;
}

const std::string& hostFeatures() {
  static const std::string text = [] {
    // Sorted: the string is part of cache keys and of the IR.
    std::map<std::string, bool> sorted;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      sorted[feature.first().str()] = feature.second;
    std::string joined;
    for (const auto& [name, isOn] : sorted)
      joined += (joined.empty() ? "" : ",") + ((isOn ? "+" : "-") + name);
    return joined;
  }();
  return text;
}

} // namespace mneme::compile
