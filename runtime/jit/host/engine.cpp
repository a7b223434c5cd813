#include "runtime/jit/host/engine.h"

#include <chrono>
#include <exception>

#include "runtime/core/abi/mneme_jit_plugins.h"
#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/cancellation.h"
#include "runtime/core/base/demangled.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/sentence.h"
#include "runtime/core/embed/bitcode.h"
#include "runtime/jit/cache_chain.h"
#include "runtime/jit/causes.h"
#include "runtime/jit/developer_output.h"
#include "runtime/jit/host/code.h"
#include "runtime/jit/jit_pass_plugins.h"
#include "runtime/jit/request.h"

namespace mneme::jit {
namespace {

// Loading takes a millisecond.
constexpr std::chrono::seconds kLoading{2};
constexpr const char* kLabel = "JitEngineHost";

void addText(std::vector<std::byte>& bytes, const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), begin, begin + text.size() + 1);
}

template <typename Number> void addNumber(std::vector<std::byte>& bytes, Number number) {
  const auto* begin = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), begin, begin + sizeof number);
}

std::string pipelineOf(const Settings& settings) {
  return settings.marked.pipeline.empty()
             ? std::string("default<O") + settings.marked.optLevel + ">"
             : settings.marked.pipeline;
}

} // namespace

HostEngine::HostEngine(Settings settings, HostServices services)
    : settings_(std::move(settings)), services_(std::move(services)),
      isCounting_(settings_.trace.cache || settings_.trace.kernels),
      report_(kLabel, reportNames(settings_)) {
  if (settings_.trace.specialization)
    services_.print(chainLines(settings_, kLabel));
}

void* HostEngine::codeFor(mneme_host_function& description, void** arguments) {
  auto* function =
      static_cast<HostFunction*>(__atomic_load_n(&description.state, __ATOMIC_ACQUIRE));
  if (!function && !(function = functionFor(description)))
    return description.built;
  Key key;
  const char* why = nullptr;
  const mneme_pass_plugins* const plugins = mneme_jit_pass_plugins();
  if (!function->readKey(arguments, key, why) || !key.add(&plugins, sizeof plugins)) {
    runsAsBuilt(*function, why);
    return description.built;
  }
  const uint64_t keyHash = hash64(key.bytes());
  if (HostVariant* variant = function->find(keyHash, key.bytes()))
    if (void* code = variant->code.load(std::memory_order_acquire)) {
      if (isCounting_)
        count(*variant);
      return code;
    }
  return obtain(*function, keyHash, key, arguments);
}

void HostEngine::count(HostVariant& variant) const noexcept {
  if (variant.report)
    variant.report->uses.fetch_add(1, std::memory_order_relaxed);
}

HostFunction* HostEngine::functionFor(mneme_host_function& description) noexcept {
  if (description.version == 0 || description.version > MNEME_HOST_FUNCTION_ABI ||
      isChild_.load(std::memory_order_relaxed))
    return nullptr;
  const BlockedSignals blocked(BlockedSignals::Which::ButFaults); // a handler may call it too
  try {
    const std::lock_guard lock(mutex_);
    if (void* known = __atomic_load_n(&description.state, __ATOMIC_ACQUIRE))
      return static_cast<HostFunction*>(known);
    functions_.push_back(std::make_unique<HostFunction>(description));
    __atomic_store_n(&description.state, functions_.back().get(), __ATOMIC_RELEASE);
    return functions_.back().get();
  } catch (const std::exception&) { // no memory: another call will try
    return nullptr;
  }
}

/// What is not there yet: one thread makes it, others wait.
void* HostEngine::obtain(HostFunction& function, uint64_t keyHash, const Key& key,
                         void** arguments) {
  void* const built = function.description().built;
  if (isChild_.load(std::memory_order_relaxed))
    return built;
  const DeferredCancellation deferred;
  const BlockedSignals blocked(BlockedSignals::Which::ButFaults);
  try {
    HostVariant& variant = function.add(keyHash, key.bytes());
    std::unique_lock lock(mutex_);
    if (variant.state == HostVariant::State::New) {
      variant.state = HostVariant::State::Building;
      lock.unlock();
      const uint64_t hash = hashOf(function, arguments);
      variant.report = &report_.entry(hash, function.name(), demangled(function.name()));
      void* const code = build(function, variant, hash, arguments);
      variant.code.store(code ? code : built, std::memory_order_release);
      become(variant, HostVariant::State::Ended);
    } else {
      wait(variant, lock);
    }
    if (isCounting_)
      count(variant);
    void* const code = variant.code.load(std::memory_order_acquire);
    return code ? code : built;
  } catch (const std::exception& error) { // no memory
    runsAsBuilt(function, error.what());
    return built;
  }
}

void HostEngine::become(HostVariant& variant, HostVariant::State state) {
  const std::lock_guard lock(mutex_);
  variant.state = state;
  changed_.notify_all();
}

/// Waits until another thread has compiled the variant. That thread may need a lock of the loader
/// that this one holds, so the wait is limited.
void HostEngine::wait(HostVariant& variant, std::unique_lock<std::mutex>& lock) {
  const auto isCompiled = [&] {
    return variant.state == HostVariant::State::Loading ||
           variant.state == HostVariant::State::Ended;
  };
  const std::chrono::duration<double> limit(settings_.timeoutSeconds + settings_.graceSeconds);
  if (settings_.timeoutSeconds > 0)
    changed_.wait_for(lock, limit, isCompiled);
  else
    changed_.wait(lock, isCompiled);
  changed_.wait_for(lock, kLoading, [&] { return variant.state == HostVariant::State::Ended; });
}

/// Null, after a warning, if it cannot be.
void* HostEngine::build(HostFunction& function, HostVariant& variant, uint64_t hash,
                        void** arguments) {
  try {
    compile::Request request = requestFor(function, hash, arguments);
    compile::Result result;
    const bool isStored = !settings_.cacheLevels.empty() && services_.findStored(request, result);
    report_.countStored(isStored ? result.cacheLevel : CacheReport::kNowhere);
    if (!isStored) {
      askForMore(request, settings_);
      result = compileWith(request);
      noteCompiled(request, result, hash);
    }
    if (settings_.trace.specialization) {
      std::string text = result.trace;
      if (result.isFromCache)
        text = hitLine(settings_, result.cacheLevel, hash);
      else if (!settings_.marked.pipeline.empty() || !request.plugins.empty())
        text += "[CustomPipeline] " + request.passes + "\n";
      services_.print(text);
    }
    become(variant, HostVariant::State::Loading);
    return loadHostCode(result.image, function.description());
  } catch (const std::exception& error) {
    if (!isKnownCause(error))
      runsAsBuilt(function, error.what());
    return nullptr;
  }
}

compile::Result HostEngine::compileWith(const compile::Request& request) const {
  try {
    return services_.compile(request);
  } catch (const Error& error) {
    refuseUnusable(request, error);
    throw;
  }
}

void HostEngine::noteCompiled(const compile::Request& request, const compile::Result& result,
                              uint64_t hash) const {
  passOnPrinted(result.printed);
  const bool namesPasses = !settings_.marked.pipeline.empty() || !request.plugins.empty();
  services_.print(timerLines(
      settings_, request, result,
      {.name = request.kernel,
       .level = namesPasses ? request.passes : std::string(1, settings_.marked.optLevel)}));
  keepOutputs(settings_, request.kernel, hash, result);
}

compile::Request HostEngine::requestFor(const HostFunction& function, uint64_t hash,
                                        void** arguments) const {
  const mneme_host_function& description = function.description();
  compile::Request request;
  request.target = "host";
  request.kernel = function.name();
  request.symbol = jitSymbol(function.name(), hash, hasUnitOf(0) ? 0 : 1);
  request.passes = pipelineOf(settings_);
  if (const PassPlugins* plugins = presentPassPlugins())
    addPassPlugins(request, *plugins);
  request.codegenOptLevel = settings_.marked.codegenOptLevel;
  request.cacheName = rankText() + "-cache-jit-" + std::to_string(hash) + ".so";
  request.wantTrace = settings_.trace.specialization;
  request.modules.push_back(embed::decompressBitcode(
      {static_cast<const std::byte*>(description.bitcode), description.bitcodeBytes},
      description.bitcodeRawBytes));
  request.specializedArgs = valuesOf(function.sources(), arguments);
  request.lambdaValues = function.lambdaValues(arguments);
  return request;
}

uint64_t HostEngine::hashOf(const HostFunction& function, void** arguments) const {
  std::vector<std::byte> bytes;
  addText(bytes, function.name());
  // Symbols are named in another way in programs without kernels: their code is stored apart.
  addNumber(bytes, hasUnitOf(0));
  addText(bytes, pipelineOf(settings_));
  if (const PassPlugins* plugins = presentPassPlugins()) {
    addText(bytes, plugins->pipelines);
    for (const compile::PassPlugin& plugin : plugins->plugins) {
      addText(bytes, plugin.path);
      addNumber(bytes, plugin.contentHash);
    }
  }
  const MarkedDefaults& marked = settings_.marked;
  for (const uint32_t number :
       {marked.codegenOptLevel, uint32_t{marked.specializeArgs}, uint32_t{marked.launchBounds},
        uint32_t{marked.specializeDims}, uint32_t{marked.boundIndices.value_or(false)}})
    addNumber(bytes, number);
  for (const ValueSource& source : function.sources()) {
    const ArgValue value = source.value(arguments);
    addNumber(bytes, value.index);
    addNumber(bytes, value.bytes.size());
    bytes.insert(bytes.end(), value.bytes.begin(), value.bytes.end());
  }
  for (const compile::LambdaValue& field : function.lambdaValues(arguments)) {
    addNumber(bytes, field.slot);
    addNumber(bytes, field.offset);
    addNumber(bytes, field.value.size());
    bytes.insert(bytes.end(), field.value.begin(), field.value.end());
  }
  return combineHashes(function.description().staticHash, hash64(bytes));
}

void HostEngine::runsAsBuilt(const HostFunction& function, const char* why) const noexcept {
  try {
    services_.warn(sentence("function '", function.name(), "' runs as it was built: ", why));
  } catch (const std::exception&) { // no memory for the sentence
  }
}

void HostEngine::report() noexcept {
  try {
    services_.print(report_.text({.counts = settings_.trace.cache,
                                  .kernels = settings_.trace.kernels,
                                  .functionNames = settings_.namesFunctions}));
  } catch (const std::exception&) { // no memory
  }
}

} // namespace mneme::jit
