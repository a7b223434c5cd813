// The engine's trace output.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/sentence.h"
#include "runtime/jit/cache_chain.h"
#include "runtime/jit/developer_output.h"
#include "runtime/jit/engine.h"
#include "runtime/jit/request.h"
#include "runtime/jit/tuned/launch_line.h"

namespace mneme::jit {
namespace {

constexpr const char* kDumpDirectory = ".proteus-dump";

/// "n"; "f.s.n" or "f+8", the member of a structure.
std::string nameOf(const KernelArg& arg, const ArgField* member) {
  if (!member)
    return arg.name;
  return arg.name +
         (member->name.empty() ? '+' + std::to_string(member->offset) : '.' + member->name);
}

std::string textOf(ArgKind kind, const std::vector<std::byte>& value) {
  if (kind == ArgKind::Integer && value.size() <= sizeof(int64_t))
    return std::to_string(tuned::integerOf(value));
  std::string hex = "0x";
  for (size_t i = value.size(); i > 0; --i)
    hex += toHex(std::to_integer<uint64_t>(value[i - 1])).substr(14);
  return hex;
}

/// Architectures all variants are bound to; empty if one of them serves `arch`.
std::string otherArchs(const std::vector<tuned::Variant>& variants, const std::string& arch) {
  std::set<std::string> archs;
  for (const tuned::Variant& variant : variants) {
    if (!variant.guards.arch || variant.match.arch == arch)
      return "";
    archs.insert(variant.match.arch);
  }
  std::string text;
  for (const std::string& one : archs)
    text += (text.empty() ? "" : ", ") + one;
  return text;
}

double seconds(const std::atomic<uint64_t>& nanoseconds) { return double(nanoseconds) * 1e-9; }

} // namespace

void Engine::tracePlan(const Kernel& kernel, const LaunchShape& shape, const tuned::Choice& choice,
                       const Plan& plan) const {
  services_.trace(tuned::lineOf({.kernel = kernel.label(),
                                 .launched = shape.dims,
                                 .sharedBytes = shape.sharedBytes,
                                 .device = shape.device,
                                 .choice = choice,
                                 .isTuned = plan.binary != nullptr,
                                 .used = plan.dims}));
}

void Engine::traceValues(const Binary& binary) const {
  const embed::KernelBlob& blob = *binary.kernel().code().blob;
  const std::string begin = "[specialization] " + binary.kernel().label() + ": ";
  for (const ArgValue& value : binary.spec().values) {
    const KernelArg& arg = blob.args[value.index];
    const ArgField* const member = value.offset ? arg.findField(*value.offset) : nullptr;
    services_.trace(begin + "argument " + std::to_string(value.index) + " '" + nameOf(arg, member) +
                    "' = " + textOf(member ? member->kind : arg.kind, value.bytes));
  }
  if (binary.variant().specializeDims)
    services_.trace(begin + "dimensions = " + tuned::textOf(binary.spec().dims));
  if (binary.variant().launchBounds)
    services_.trace(begin + "launch bounds = " + tuned::textOf(binary.spec().dims.block));
}

CacheReport::Entry& Engine::usesOf(const Kernel& kernel, const BinarySpec& spec,
                                   const tuned::Variant& variant) {
  return report_.entry(requestHash(kernel.code(), makeRequest(kernel.code(), variant, spec)),
                       kernel.code().name, kernel.label());
}

void Engine::traceMarked(const Binary& binary, const compile::Request& request,
                         const compile::Result& result) const {
  const KernelCode& code = binary.kernel().code();
  const tuned::Variant& variant = binary.variant();
  const bool namesPasses = variant.namesPipeline || !request.plugins.empty();
  if (!result.isFromCache)
    services_.print(
        timerLines(settings_, request, result,
                   {.name = code.name, .level = namesPasses ? request.passes : variant.optLevel}));
  if (!settings_.trace.specialization)
    return;
  if (result.isFromCache) {
    services_.print(hitLine(settings_, result.cacheLevel, requestHash(code, request)));
    return;
  }
  const auto flag = [](const char* name, bool isOn) {
    return std::string(" ") + name + (isOn ? ":1" : ":0");
  };
  std::string text = "[KernelConfig] ID:" + code.name + ' ';
  if (variant.namesPipeline)
    text += "Pipeline:" + variant.pipeline + ' ';
  text += "CG:" + (code.module->vendor == 0 ? "RTC" : settings_.marked.codegen) +
          flag("SA", variant.specializeArgs) + flag("LB", variant.launchBounds) +
          flag("SD", variant.specializeDims) + flag("SDR", variant.boundIndices.value_or(false)) +
          " OL:" + variant.optLevel + " CGL:" + std::to_string(variant.codegenOptLevel) +
          " TMT:" + std::to_string(variant.tunedMaxThreads) +
          " BPSM:" + std::to_string(variant.minBlocksPerSm) + " \n" + result.trace;
  if (namesPasses)
    text += "[CustomPipeline] " + request.passes + "\n";
  services_.print(text);
}

void Engine::announce() {
  if (!settings_.hasMarks)
    return;
  if (settings_.marked.codegen != "RTC" && hasUnitOf(0))
    services_.print("[proteus] Warning: Proteus supports only RTC in the current build system "
                    "configuration, defaulting Codegen to RTC\n");
  if (!settings_.trace.specialization)
    return;
  struct Lines {
    const std::function<const void*(const void*)>& place;
    std::string text;
  } lines{services_.variablePlace, {}};
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry* module) {
        auto& lines = *static_cast<Lines*>(user);
        for (uint64_t i = 0; i < module->globalCount && lines.place; ++i) {
          const mneme_global_entry& global = module->globals[i];
          char places[64]; // names can be of any length
          std::snprintf(places, sizeof(places), " HAddr:%p DevAddr:%p", global.hostShadow,
                        lines.place(global.hostShadow));
          lines.text += std::string("[GVarInfo]: ") + global.name + places +
                        " VarSize:" + std::to_string(global.sizeBytes) + "\n";
        }
      },
      &lines);
  services_.print(lines.text + chainLines(settings_, "JitEngineDevice"));
}

void Engine::dumpIr(const Binary& binary, const compile::Request& request,
                    const std::string& ir) const {
  if (settings_.trace.ir && binary.kernel().isMarked())
    services_.print("LLVM IR module post optimization " + binary.kernel().code().name + "\n" + ir);
  else if (settings_.trace.ir)
    services_.trace("[ir-dump] " + binary.kernel().label() + "\n" + ir);
  if (!settings_.dumpsIr)
    return;
  try {
    std::filesystem::create_directories(kDumpDirectory);
    const std::filesystem::path file =
        std::filesystem::path(kDumpDirectory) /
        ("device-jit-" + std::to_string(requestHash(binary.kernel().code(), request)) + ".ll");
    runApart([&] { writeFileAtomically(file, ir); });
  } catch (const std::exception& error) {
    warn(sentence("the IR of kernels is not written: ", error.what()), "");
  }
}

void Engine::warn(const std::string& sentence, const std::string& subject) const {
  bool isFirst = false;
  {
    const std::lock_guard lock(warnedMutex_);
    isFirst = warned_.add(sentence, subject);
  }
  if (isFirst)
    services_.warn(sentence);
}

/// No variant of the kernel is allowed for a launch on such a device.
void Engine::warnOfOtherDevices(Kernel& kernel, const std::string& arch) const {
  if (kernel.hasServed())
    return;
  const std::string archs = otherArchs(kernel.variants(), arch);
  if (archs.empty())
    return;
  kernel.setServed(); // so that the warning comes once
  warn("tuned kernel '" + kernel.code().name + "' is not used on '" + arch +
           "': the file has it for " + archs + " only; it runs as it was built",
       "'" + kernel.code().name + "'");
}

/// Reports the launches that guards left out, and the counts of sentences reported once. At exit a
/// lock that is held may never be released, so this waits for none.
void Engine::reportUnused() {
  std::vector<std::string> sentences;
  bool isIdle = false;
  if (const std::unique_lock lock(resolving_, std::try_to_lock); lock) {
    Grouped idle;
    for (const auto& kernel : kernels_)
      if (!kernel->hasServed())
        idle.add("tuned kernel '" + kernel->code().name +
                     "' was not used: no launch of it met the guards of its variants",
                 "'" + kernel->code().name + "'");
    sentences = idle.sentences();
    isIdle = isForProgram_ && kernels_.empty();
  }
  if (const std::unique_lock lock(warnedMutex_, std::try_to_lock); lock) {
    std::ranges::move(warned_.repeats(), std::back_inserter(sentences));
    if (isIdle && warned_.isEmpty())
      sentences.push_back("no kernel that '" + settings_.tunedKernels.string() +
                          "' names was launched, so nothing ran as tuned");
  }
  for (const std::string& sentence : sentences)
    services_.warn(sentence);
}

void Engine::report() noexcept {
  if (isOff_.load(std::memory_order_relaxed))
    return;
  try {
    reportUnused();
    if (settings_.hasMarks)
      services_.print(report_.text({.counts = settings_.trace.cache,
                                    .kernels = settings_.trace.kernels,
                                    .functionNames = settings_.namesFunctions}));
    if (settings_.trace.cache && !file_.kernels.empty())
      services_.trace("[cache-stats] launches: " + std::to_string(counters_.tunedLaunches) +
                      " tuned, " + std::to_string(counters_.otherLaunches) +
                      " of tuned kernels as built; binaries: " + std::to_string(counters_.built) +
                      ", of these stored before: " + std::to_string(counters_.fromStore) +
                      "; failed: " + std::to_string(counters_.failed));
    if (settings_.trace.timers && !file_.kernels.empty()) {
      char line[160];
      std::snprintf(
          line, sizeof(line), "[timers] reading IR %.3f s, compiling %.3f s, loading %.3f s",
          seconds(counters_.readNs), seconds(counters_.compileNs), seconds(counters_.loadNs));
      services_.trace(line);
    }
  } catch (const std::exception&) { // no memory
  }
}

} // namespace mneme::jit
