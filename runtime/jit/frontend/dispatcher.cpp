// Has modules compiled, or finds them in the caches, and loads them
// (proteus/Frontend/Dispatcher.h).
#include "include/proteus/Frontend/Dispatcher.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <unistd.h>

#include "include/proteus/Error.h"
#include "runtime/compiler/service/mlir.h"
#include "runtime/compiler/service/source.h"
#include "runtime/core/abi/mneme_frontend.h"
#include "runtime/core/base/demangled.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/library_in_memory.h"
#include "runtime/core/base/log.h"
#include "runtime/jit/cache_chain.h"
#include "runtime/jit/developer_output.h"
#include "runtime/jit/frontend/compiled_library.h"
#include "runtime/jit/frontend/cpp_compilers.h"
#include "runtime/jit/frontend/dispatcher_state.h"
#include "runtime/jit/frontend/mlir_tools.h"
#include "runtime/jit/jit_pass_plugins.h"
#include "runtime/jit/service_options.h"

namespace proteus {
namespace {

using mneme::Error;
using mneme::ErrorCode;
namespace frontend = mneme::frontend;

constexpr TargetModelType kTargets[] = {TargetModelType::HOST, TargetModelType::CUDA,
                                        TargetModelType::HIP, TargetModelType::HOST_HIP,
                                        TargetModelType::HOST_CUDA};

std::string labelOf(TargetModelType target) {
  switch (target) {
  case TargetModelType::HOST:
    return "DispatcherHost";
  case TargetModelType::CUDA:
    return "DispatcherCUDA";
  case TargetModelType::HIP:
    return "DispatcherHIP";
  case TargetModelType::HOST_HIP:
    return "DispatcherHostHIP";
  case TargetModelType::HOST_CUDA:
    return "DispatcherHostCUDA";
  }
  return {};
}

void print(const std::string& text) { fwrite(text.data(), 1, text.size(), stdout); }

/// Throws its own message, because the loader's message names a temporary file that the user does
/// not know.
void* openLibrary(std::span<const std::byte> image) {
  try {
    return mneme::openApplicationLibrary(image);
  } catch (const Error& error) {
    const std::string words = error.what();
    const std::string what = "undefined symbol: ";
    const size_t at = words.find(what);
    if (at == std::string::npos)
      throw;
    throw Error(ErrorCode::CompileFailed,
                "the module refers to '" + words.substr(at + what.size()) +
                    "', which the program does not export; if it is there, declare it extern \"C\" "
                    "and link the program with -rdynamic");
  }
}

/// What libmneme_rt kept when the program was loaded.
mneme::jit::Settings readSettings(std::vector<std::string>& warnings) {
  mneme::keptEnvironment = {mneme_rt_environment(), mneme_rt_directory()};
  // PROTEUS_USE_STORED_CACHE speaks of marked code alone.
  const auto variable = [](const char* name) {
    return std::string_view(name) == "PROTEUS_USE_STORED_CACHE" ? nullptr : mneme::keptValue(name);
  };
  mneme::jit::Settings settings = mneme::jit::readSettings(variable, warnings);
  settings.hasMarks = true; // it also ends if its settings are invalid
  if (!settings.nonsense.empty())
    reportFatalError(settings.nonsense);
  return settings;
}

mneme::jit::Settings settingsOfDispatcher() {
  std::vector<std::string> warnings;
  mneme::jit::Settings settings = readSettings(warnings);
  for (const std::string& warning : warnings)
    mneme::noticeOnce(warning);
  settings.trace = settings.asked;
  mneme::jit::completeLevels(settings);
  return settings;
}

/// Invalid settings end the program before main(), because settings are read once.
[[gnu::constructor]] void checkSettings() {
  for (const char* const* one = mneme_rt_environment(); one && *one; ++one)
    if (std::string_view(*one).starts_with("PROTEUS_")) {
      std::vector<std::string> warnings;
      readSettings(warnings);
      return;
    }
}

/// Never destroyed: functions may be called while the process ends.
struct KnownDispatchers {
  std::mutex mutex;
  std::map<TargetModelType, Dispatcher*> dispatchers;
};

KnownDispatchers& knownDispatchers() {
  static auto* const known = new KnownDispatchers;
  return *known;
}

std::vector<std::byte> bytesOf(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

} // namespace

std::string getTargetModelName(TargetModelType target) {
  switch (target) {
  case TargetModelType::HOST:
    return "host";
  case TargetModelType::CUDA:
    return "cuda";
  case TargetModelType::HIP:
    return "hip";
  case TargetModelType::HOST_HIP:
    return "host_hip";
  case TargetModelType::HOST_CUDA:
    return "host_cuda";
  }
  return {};
}

TargetModelType parseTargetModel(const std::string& text, const char* file, unsigned line) {
  if (text == "native")
    return TargetModelType::HOST;
  for (const TargetModelType target : kTargets)
    if (text == getTargetModelName(target))
      return target;
  throw FatalError("Unsupported target " + text, file, line);
}

Dispatcher::State::State(TargetModelType wanted)
    : target(wanted), label(labelOf(wanted)), settings(settingsOfDispatcher()),
      service(mneme::jit::serviceOptions(settings)),
      lookups(label, mneme::jit::reportNames(settings), /*countsLaunches=*/true) {
  if (settings.trace.specialization)
    print(mneme::jit::chainLines(settings, label));
}

std::string Dispatcher::State::entryName(uint64_t hash, const char* suffix) const {
  return mneme::jit::rankText() + "-cache-jit-" + std::to_string(hash) + suffix;
}

std::string Dispatcher::State::pipeline() const {
  return settings.marked.pipeline.empty()
             ? std::string("default<O") + settings.marked.optLevel + ">"
             : settings.marked.pipeline;
}

mneme::compile::Result Dispatcher::State::obtain(const mneme::compile::Request& request,
                                                 uint64_t hash) {
  mneme::compile::Result result;
  const bool isStored =
      !settings.cacheLevels.empty() && mneme::compile::findStored(request, service, result);
  lookups.countStored(isStored ? result.cacheLevel : mneme::jit::CacheReport::kNowhere);
  if (!isStored)
    result = compile(request);
  if (!result.isFromCache)
    noteCompiled(request, result, hash);
  if (settings.trace.specialization) {
    if (result.isFromCache)
      print(mneme::jit::hitLine(settings, result.cacheLevel, hash));
    else if (request.target != mneme::compile::kSourceTarget && // its compiler has its own
             (!settings.marked.pipeline.empty() || !request.plugins.empty()))
      print("[CustomPipeline] " + request.passes + "\n");
  }
  return result;
}

void Dispatcher::State::noteCompiled(const mneme::compile::Request& request,
                                     const mneme::compile::Result& result, uint64_t hash) const {
  mneme::jit::passOnPrinted(result.printed);
  // In one piece, where the program has not put another file in the place of stderr.
  if (const int descriptor = mneme_rt_standard_error(); descriptor >= 0 && !result.warnings.empty())
      [[maybe_unused]]
    const ssize_t ignored = write(descriptor, result.warnings.data(), result.warnings.size());
  const bool namesPasses = !settings.marked.pipeline.empty() || !request.plugins.empty();
  print(mneme::jit::timerLines(
      settings, request, result,
      {.name = "module " + std::to_string(hash),
       .level = namesPasses ? request.passes : std::string(1, settings.marked.optLevel)}));
}

mneme::compile::Request Dispatcher::State::requestFor(const std::string& code) const {
  mneme::compile::Request request;
  request.modules.push_back(bytesOf(code));
  request.passes = pipeline();
  request.codegenOptLevel = settings.marked.codegenOptLevel;
  if (target == TargetModelType::HOST) {
    request.target = "host";
  } else {
    request.target = runtime().target();
    request.optionsJson =
        std::string("{\"fp_contract\": \"on\", \"triple\": \"") +
        (target == TargetModelType::HIP ? "amdgcn-amd-amdhsa" : "nvptx64-nvidia-cuda") + "\"}";
  }
  if (const mneme::jit::PassPlugins* plugins = mneme::jit::presentPassPlugins())
    mneme::jit::addPassPlugins(request, *plugins);
  return request;
}

std::shared_ptr<CompiledLibrary> Dispatcher::State::compileIR(const std::string& code,
                                                              uint64_t hash) {
  mneme::compile::Request request = requestFor(code);
  request.cacheName = entryName(hash, ".o");
  return load(obtain(request, hash).image);
}

mneme::compile::Request Dispatcher::State::requestForMlir(const std::string& code) const {
  mneme::compile::Request request = requestFor(code);
  request.mlir = mlirLoweringFor(target, architecture());
  return request;
}

std::string Dispatcher::State::loweredMlir(const std::string& code) const {
  mneme::compile::Request request = requestForMlir(code);
  addMlirTools(request.mlir);
  return mneme::compile::lowerMlir(request);
}

std::shared_ptr<CompiledLibrary> Dispatcher::State::compileMlir(const std::string& code,
                                                                uint64_t hash) {
  mneme::compile::Request request = requestForMlir(code);
  request.cacheName = entryName(hash, ".o");
  return load(obtain(request, hash).image);
}

std::string Dispatcher::State::architecture() const {
  if (target == TargetModelType::HOST)
    return {};
  const std::string name = runtime().target();
  if (name != "cpu")
    return name;
  return runtime().vendor() == frontend::Vendor::Hip ? "gfx90a" : "sm_90";
}

std::shared_ptr<CompiledLibrary>
Dispatcher::State::compileSource(const std::string& code, uint64_t hash,
                                 const std::vector<std::string>& extra,
                                 CppJitCompilerBackend backend) {
  const bool isLibrary = target == TargetModelType::HOST_CUDA ||
                         target == TargetModelType::HOST_HIP ||
                         backend == CppJitCompilerBackend::Nvcc;
  mneme::compile::Request request;
  if (!isLibrary)
    request = requestFor({});
  // Lines are those of the user's text.
  request.modules = {bytesOf("#line 1 \"CppJitModule\"\n" + code)};
  request.sourceCompiler = compilerFor(target, backend, architecture(), extra);
  if (isLibrary)
    request.target = mneme::compile::kSourceTarget;
  request.cacheName = entryName(hash, isLibrary ? ".so" : ".o");
  const mneme::compile::Result result = obtain(request, hash);
  // The reference tool looks for what it has just stored, and counts that.
  if (isLibrary && !result.isFromCache)
    lookups.countStored(0);
  return load(result.image);
}

mneme::compile::Result Dispatcher::State::compile(mneme::compile::Request request) const {
  if (!request.sourceCompiler.empty())
    requireCompiler(request.sourceCompiler);
  if (!request.mlir.pipelines.empty())
    addMlirTools(request.mlir);
  try {
    return mneme::compile::compileApart(request, service);
  } catch (const Error& error) {
    mneme::jit::refuseUnusable(request, error);
    throw;
  }
}

std::shared_ptr<CompiledLibrary> Dispatcher::State::load(std::span<const std::byte> image) const {
  if (!isGPUTargetModel(target))
    return std::make_shared<CompiledLibrary>(openLibrary(image));
  auto unit = std::make_unique<frontend::DeviceUnit>(runtime(), image);
  return std::make_shared<CompiledLibrary>(*unit.release());
}

const frontend::VendorRuntime& Dispatcher::State::runtime() const {
  const bool isCuda = target == TargetModelType::CUDA || target == TargetModelType::HOST_CUDA;
  return frontend::VendorRuntime::of(isCuda ? frontend::Vendor::Cuda : frontend::Vendor::Hip);
}

void* Dispatcher::State::find(const std::string& symbol, uint64_t hash, CompiledLibrary& library,
                              const Names& names) {
  void* const address = library.find(symbol);
  const uint64_t own = mneme::combineHashes(hash, mneme::hash64(symbol));
  mneme::jit::CacheReport::Entry& entry = lookups.entry(own, names.symbol, names.kernel);
  entry.uses.fetch_add(1, std::memory_order_relaxed);
  if (settings.trace.kernels) {
    const std::lock_guard lock(mutex);
    launched[address] = &entry;
  }
  return address;
}

void Dispatcher::State::countLaunch(const void* kernel) noexcept {
  const std::lock_guard lock(mutex);
  if (const auto found = launched.find(kernel); found != launched.end())
    found->second->launches.fetch_add(1, std::memory_order_relaxed);
}

/// Scripts that were written for the reference tool read the counts of every run, and name a
/// directory; the output of other programs is their users'.
void Dispatcher::State::report() noexcept {
  if (isReported.exchange(true))
    return;
  const char* directory = mneme::environmentValue("PROTEUS_CACHE_DIR");
  try {
    print(lookups.text({.counts = settings.trace.cache || (directory && *directory),
                        .kernels = settings.trace.kernels,
                        .functionNames = settings.namesFunctions}));
  } catch (const std::exception&) { // no memory
  }
}

void Dispatcher::State::reportAtEnd() {
  // Functions for the end of a process have no argument, and run last come, first served.
  static auto* const order = new std::vector<State*>;
  order->push_back(this);
  std::atexit([] {
    State* const last = order->back();
    order->pop_back();
    last->report();
  });
}

Dispatcher::Dispatcher(TargetModelType target) : Parts(std::make_unique<State>(target)) {}

Dispatcher& Dispatcher::getDispatcher(TargetModelType target) {
  auto& [mutex, dispatchers] = knownDispatchers();
  const std::lock_guard lock(mutex);
  Dispatcher*& known = dispatchers[target];
  if (known)
    return *known;
  known = new Dispatcher(target);
  known->state().reportAtEnd();
  return *known;
}

TargetModelType Dispatcher::getTargetModel() const { return Parts->target; }

uint64_t Dispatcher::hashOf(const std::string& code, const std::string& kind,
                            bool isOurCode) const {
  const mneme::jit::MarkedDefaults& marked = Parts->settings.marked;
  uint64_t hash = mneme::hash64(code);
  const auto add = [&](const std::string& text) {
    hash = mneme::combineHashes(hash, mneme::hash64(text));
  };
  add(kind);
  add(getTargetModelName(Parts->target));
  if (!isOurCode)
    return hash;
  add(Parts->pipeline());
  add(std::to_string(marked.codegenOptLevel));
  add(marked.codegen);
  if (const mneme::jit::PassPlugins* plugins = mneme::jit::presentPassPlugins())
    for (const mneme::compile::PassPlugin& plugin : plugins->plugins)
      add(plugin.path + plugins->pipelines + std::to_string(plugin.contentHash));
  return hash;
}

std::shared_ptr<CompiledLibrary> Dispatcher::compileIR(const std::string& code, uint64_t hash, bool,
                                                       const char* file, unsigned line) {
  try {
    return Parts->compileIR(code, hash);
  } catch (const Error& error) {
    throw FatalError(error.what(), file, line);
  }
}

void* Dispatcher::getFunctionAddress(const std::string& symbol, uint64_t hash,
                                     CompiledLibrary& library, const char* file, unsigned line) {
  const std::string kernel = isGPUTargetModel(Parts->target) ? mneme::demangled(symbol) : "";
  try {
    return Parts->find(symbol, hash, library, {symbol, kernel});
  } catch (const Error& error) {
    throw FatalError(error.what(), file, line);
  }
}

DispatchResult Dispatcher::launch(void* kernel, LaunchDims grid, LaunchDims block,
                                  void* arguments[], uint64_t sharedBytes, void* stream) {
  if (Parts->settings.trace.kernels)
    Parts->countLaunch(kernel);
  const mneme_launch launch{.version = MNEME_RT_ABI,
                            .form = MNEME_LAUNCH_PLAIN,
                            .kernel = kernel,
                            .grid = {grid.X, grid.Y, grid.Z},
                            .block = {block.X, block.Y, block.Z},
                            .args = arguments,
                            .sharedBytes = sharedBytes,
                            .stream = stream,
                            .config = nullptr,
                            .vendorEntry = Parts->runtime().launchEntry()};
  return mneme_launch_kernel(&launch);
}

DispatchResult Dispatcher::setFuncAttribute(void* kernel, JitFuncAttribute attribute, int value,
                                            const char* file, unsigned line) {
  if (value < 0)
    throw FatalError("Function attribute value must be non-negative", file, line);
  return Parts->runtime().setAttribute(kernel, static_cast<int>(attribute), value);
}

} // namespace proteus

void mneme_frontend_engine_begins(int isForGpu) {
  auto& [mutex, dispatchers] = proteus::knownDispatchers();
  const std::lock_guard lock(mutex);
  for (const auto& [target, dispatcher] : dispatchers)
    if (isForGpu ? proteus::isGPUTargetModel(target) : target == proteus::TargetModelType::HOST)
      dispatcher->state().reportAtEnd();
}
