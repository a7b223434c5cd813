#include "runtime/replay/code_without_ir.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include <nlohmann/json.hpp>

#include "runtime/compiler/assembler/remembering.h"
#include "runtime/compiler/service/configuration.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/image_hash.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/core/embed/device_code.h"
#include "runtime/core/embed/jit_options.h"
#include "runtime/core/embed/ptx_limits.h"
#include "runtime/core/embed/ptx_member.h"

namespace mneme::replay {
namespace {

constexpr uint64_t kMostCodeBytes = uint64_t{256} << 20;

/// "a cubin"
std::string withArticle(const std::string& form) {
  return form == "cpu"      ? "an image for the CPU device"
         : form == "ptx"    ? "PTX"
         : form == "fatbin" ? "a fat binary"
                            : "a " + form;
}

std::string kernelOf(const artifact::KernelRecord& record) {
  const std::string kernel = "kernel '" + record.demangledName + "' ";
  const std::string form = "(its code is " + withArticle(record.codeForm) + ")";
  return kernel + (record.images.empty() ? "was recorded without IR " : "shall run as recorded ") +
         form;
}

/// Whether a knob, by its key, changes code as it is recorded.
bool needsIr(const std::string& key, const std::string& form) {
  for (const char* idle : {"max_threads", "min_blocks_per_sm", "prune", "internalize",
                           "specialized_args"}) // without what they belong to
    if (key == idle)
      return false;
  const bool isForAssembler = key == "max_registers" || key == "codegen_opt" ||
                              key == "assembler_options" || key == "set_launch_bounds";
  return key != "llvm" && key != "shared_carveout" && (form != "ptx" || !isForAssembler);
}

/// What a configuration asks for that needs IR; empty if nothing.
std::string wantedCode(const artifact::KernelRecord& record, const Configuration& c,
                       const Options& options) {
  const Configuration usual;
#define MNEME_KNOB(type, member, key, otherwise, high, deployed)                                   \
  if (c.member != usual.member && needsIr(key, record.codeForm))                                   \
    return std::string("other ") + key;
#include "runtime/core/abi/knobs.def"
  if (!c.llvm.empty() && !isOwnCode(c))
    return "another LLVM";
  if (!options.ir.empty())
    return "other IR";
  return options.wantIr ? "output of IR" : options.wantAssembly ? "output of assembly" : "";
}

/// 90 of "sm_90a"; 0 if there is no number.
unsigned numberOf(const std::string& architecture) {
  const size_t begin = architecture.find_first_of("0123456789");
  return begin == std::string::npos
             ? 0
             : static_cast<unsigned>(std::strtoul(architecture.c_str() + begin, nullptr, 10));
}

/// Machine code runs on GPUs of its generation that are not older.
bool runsCubin(const std::string& device, const std::string& built) {
  const unsigned number = numberOf(device), wanted = numberOf(built);
  return wanted == 0 || (wanted / 10 == number / 10 && wanted <= number);
}

/// The architecture that PTX names: "sm_90a"; empty if it names none.
std::string namedIn(std::string_view ptx) {
  constexpr std::string_view kTarget = ".target ";
  const size_t at = ptx.find(kTarget);
  if (at == ptx.npos)
    return {};
  const std::string_view rest = ptx.substr(at + kTarget.size(), 16); // longer than any name
  return std::string(rest.substr(0, rest.find_first_of(", \t\r\n")));
}

/// PTX runs on newer GPUs, too, unless it has features of one ("sm_90a") or of a family
/// ("sm_100f").
bool runsPtx(const std::string& device, const std::string& named) {
  const unsigned number = numberOf(device), wanted = numberOf(named);
  if (wanted == 0 || number == 0)
    return true;
  return named.back() == 'a'   ? wanted == number
         : named.back() == 'f' ? wanted / 10 == number / 10 && wanted <= number
                               : wanted <= number;
}

std::string_view textOf(const std::vector<std::byte>& image) {
  return {reinterpret_cast<const char*>(image.data()), image.size()};
}

/// Without the zero at its end.
std::string ptxText(const std::vector<std::byte>& image) {
  const std::string_view text = textOf(image);
  return std::string(text.substr(0, text.find('\0')));
}

/// Makes machine code of PTX, and returns what it uses.
nlohmann::json assemble(std::vector<std::byte>& image, const artifact::KernelRecord& record,
                        const std::string& target, const Configuration& configuration) {
  auto options = compile::checkedOptions(configuration.assemblerOptions.c_str());
  const auto assembler = compile::openAssembler(compile::takeAssembler(options));
  if (!assembler)
    throw Error(ErrorCode::BackendUnavailable,
                kernelOf(record) + ": options and levels of ptxas need ptxas or nvJitLink, and "
                                   "neither was found (see MNEME_PTXAS)");
  compile::AssemblyRequest request;
  request.ptx = ptxText(image);
  request.kernel = record.kernelName;
  // The one that PTX names, if it is the device's with features.
  request.arch = architectureOn(target, namedIn(request.ptx));
  request.optLevel = configuration.codegenOpt;
  // As the program had it compiled, where the configuration does not say otherwise.
  for (const auto& [number, value] : embed::jitOptionsIn(request.ptx))
    if (number == embed::kJitMaxRegisters && configuration.maxRegisters == 0)
      request.maxRegisters = static_cast<unsigned>(value);
    else if (number == embed::kJitLevel && configuration.codegenOpt == Configuration().codegenOpt)
      request.optLevel = static_cast<unsigned>(value);
    else if (number != embed::kJitMaxRegisters && number != embed::kJitLevel &&
             number != embed::kJitTarget)
      throw Error(ErrorCode::Unsupported,
                  kernelOf(record) + ": the program gives the driver's compiler an option (" +
                      std::to_string(number) + " of CUjit_option) that ptxas does not take");
  request.options = std::move(options);
  const compile::Assembly assembly = assembler->assemble(request);
  const auto bytes = std::as_bytes(std::span(assembly.cubin));
  image.assign(bytes.begin(), bytes.end());
  const compile::ResourceUsage& usage = assembly.usage;
  return {{"reg_usage", usage.registers},
          {"local_mem_usage", usage.localBytes},
          {"spill_store_bytes", usage.spillStoreBytes},
          {"spill_load_bytes", usage.spillLoadBytes},
          {"stack_bytes", usage.stackBytes},
          {"assembler", assembler->version().name}};
}

/// Whether it asks for what only ptxas does, not the driver.
bool asksForAssembler(const Configuration& configuration) {
  return configuration.codegenOpt != Configuration().codegenOpt ||
         !configuration.assemblerOptions.empty();
}

/// Whether it asks for what only PTX takes.
bool asksForPtx(const Configuration& configuration) {
  return configuration.maxRegisters != 0 || configuration.setLaunchBounds ||
         asksForAssembler(configuration);
}

/// What of a configuration PTX can say itself. \throws Error{InvalidArgument} for bounds that the
/// block does not keep
embed::PtxLimits limitsOf(const Configuration& configuration) {
  embed::PtxLimits limits{.registers = configuration.maxRegisters};
  if (!configuration.setLaunchBounds)
    return limits;
  const compile::LaunchBounds bounds = compile::launchBoundsOf(
      configuration, {configuration.block.x, configuration.block.y, configuration.block.z});
  limits.maxThreads = bounds.maxThreads;
  limits.minBlocks = bounds.minBlocksPerSm;
  return limits;
}

/// "cuda:0, which is sm_90", and "sm_90" where there is no device.
std::string named(const device::Description& device) {
  return device.id + (device.id == device.target ? "" : ", which is " + device.target);
}

/// What ptxas makes of PTX where nobody asks for anything that only ptxas does: if it cannot make
/// the code as the program's driver does, there are no statistics.
nlohmann::json assembleIfPossible(std::vector<std::byte>& image,
                                  const artifact::KernelRecord& record, const std::string& target,
                                  const Configuration& configuration) {
  try {
    if (compile::findAssembler().kind != compile::AssemblerKind::Driver)
      return assemble(image, record, target, configuration);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported && error.code() != ErrorCode::BackendUnavailable)
      throw;
  }
  return nlohmann::json::object();
}

/// Returns the code with the limits of the configuration in it: of a fat binary its PTX, if that is
/// asked for. \throws Error{Unsupported} as recordedBuild()
OwnCode configured(OwnCode code, const device::Description& device,
                   const Configuration& configuration, const Options& options) {
  checkRunsOn(code.record, device);
  if (code.record.codeForm == "fatbin" && asksForPtx(configuration))
    if (auto ptx = embed::ptxFor(code.image, device.target)) {
      code.record.codeForm = "ptx";
      code.image = *std::move(ptx);
    }
  if (const std::string wanted = wantedCode(code.record, configuration, options); !wanted.empty())
    requireIr(code.record, wanted);
  const std::string wantedGpu = code.record.codeForm == "ptx" ? namedIn(textOf(code.image)) : "";
  if (!runsPtx(device.target, wantedGpu))
    throw Error(ErrorCode::Unsupported, kernelOf(code.record) + ": it is for " + wantedGpu +
                                            ", and does not run on " + named(device));
  if (const embed::PtxLimits limits = limitsOf(configuration); limits.isAny())
    code.image = embed::withLimits(code.image, code.record.kernelName, limits);
  return code;
}

} // namespace

void checkRunsOn(const artifact::KernelRecord& record, const device::Description& device) {
  if (hasIr(record))
    return;
  const bool isCpu = device.target.starts_with("cpu"), isForCpu = record.codeForm == "cpu";
  if (isCpu == isForCpu && (record.codeForm != "cubin" || runsCubin(device.target, record.arch)))
    return;
  const std::string needed = isForCpu ? "the CPU device"
                             : record.codeForm == "cubin" && !record.arch.empty()
                                 ? "a GPU of architecture " + record.arch
                                 : "an NVIDIA GPU";
  throw Error(ErrorCode::Unsupported, kernelOf(record) + ": it runs on " + needed + ", not on " +
                                          (isCpu ? "the CPU device" : named(device)));
}

void requireIr(const artifact::KernelRecord& record, const std::string& wanted) {
  if (!hasIr(record))
    throw Error(
        ErrorCode::Unsupported,
        kernelOf(record) +
            ": it can be replayed with another grid, block or size of dynamic shared "
            "memory" +
            (record.codeForm == "cpu" ? "" : ", with another carve-out") +
            (record.codeForm == "ptx"
                 ? ", with a limit of registers, launch bounds, and options and levels of ptxas"
                 : "") +
            ", but not with " + wanted);
}

std::optional<OwnCode> ownCode(const artifact::KernelRecord& record,
                               const std::vector<std::vector<std::byte>>& modules,
                               const Configuration& configuration) {
  const bool wantsPtx = configuration.llvm == kItsPtx;
  if (!hasIr(record) && (!wantsPtx || record.codeForm == "ptx"))
    return OwnCode{record, modules.at(0)};
  if (!isOwnCode(configuration))
    return std::nullopt;
  const auto found = std::ranges::find_if(record.images, [&](const artifact::RecordedImage& one) {
    return one.content && (one.form == "ptx") == wantsPtx;
  });
  if (found == record.images.end())
    throw Error(ErrorCode::Unsupported, "kernel '" + record.demangledName +
                                            "' was recorded without " +
                                            (wantsPtx ? "PTX" : "the code that its program ran") +
                                            "; only kernels of Triton have it beside their IR");
  OwnCode code{record, *found->content};
  code.record.codeForm = found->form;
  return code;
}

std::string architectureOn(const std::string& target, const std::string& recorded) {
  const bool hasFeatures = target.starts_with("sm_") && recorded.size() == target.size() + 1 &&
                           recorded.starts_with(target) && recorded.back() >= 'a';
  return hasFeatures ? recorded : target;
}

compile::Result recordedBuild(OwnCode code, const device::Description& device,
                              const Configuration& configuration, const Options& options) {
  code = configured(std::move(code), device, configuration, options);
  compile::Result result;
  nlohmann::json statistics;
  if (asksForAssembler(configuration))
    statistics = assemble(code.image, code.record, device.target, configuration);
  result.image = std::move(code.image);
  statistics["image_hash"] = imageHash(result.image, configuration.sharedCarveout);
  statistics["obj_size"] = result.image.size();
  const auto recorded = nlohmann::json::parse(code.record.optionsJson, nullptr, false);
  if (recorded.is_object() && recorded.contains("unrecorded_reads"))
    statistics["unrecorded_reads"] = recorded["unrecorded_reads"];
  result.statisticsJson = statistics.dump();
  return result;
}

compile::Result describedCode(OwnCode code, const std::string& target,
                              const Configuration& configuration, bool assembles) {
  device::Description gpu;
  gpu.id = gpu.target = target;
  code = configured(std::move(code), gpu, configuration, {});
  if (code.record.codeForm != "cpu" &&
      !embed::readDeviceCode(code.image, target).find(code.record.kernelName))
    throw Error(ErrorCode::NotFound,
                kernelOf(code.record) + ": there is no such kernel in it, as if it were cut off");
  compile::Result result;
  if (code.record.codeForm == "fatbin") {
    if (const auto ptx = embed::ptxFor(code.image, target);
        ptx && embed::readDeviceCode(*ptx, target).find(code.record.kernelName))
      result.assembly = ptxText(*ptx);
    code.image = embed::memberFor(code.image, target, kMostCodeBytes);
    code.record.codeForm = embed::formOf(code.image);
  }
  nlohmann::json statistics = nlohmann::json::object();
  if (code.record.codeForm == "ptx") {
    result.assembly = ptxText(code.image);
    if (assembles)
      statistics = (asksForAssembler(configuration) ? assemble : assembleIfPossible)(
          code.image, code.record, target, configuration);
  }
  result.image = std::move(code.image);
  result.statisticsJson = statistics.dump();
  return result;
}

} // namespace mneme::replay
