#include "runtime/jit/engine.h"

#include <chrono>

#include "runtime/core/base/cancellation.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/sentence.h"
#include "runtime/jit/cache_chain.h"
#include "runtime/jit/causes.h"
#include "runtime/jit/developer_output.h"
#include "runtime/jit/jit_pass_plugins.h"
#include "runtime/jit/readable_args.h"

namespace mneme::jit {
namespace {

/// Adds the time of its life.
class Stopwatch {
public:
  explicit Stopwatch(std::atomic<uint64_t>& total) : total_(total) {}
  ~Stopwatch() {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    total_ += static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

private:
  std::atomic<uint64_t>& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

constexpr const char* kRunsAsBuilt = "; it runs as it was built";

/// Whether the program's own kernel cannot be launched so, which its marks promise.
bool needsOwnBounds(const Kernel& kernel, const mneme_launch& launch) {
  const uint32_t bound = kernel.code().blob->maxThreads;
  return kernel.isMarked() && bound != 0 && tuned::volume(launch.block).value_or(0) > bound;
}

std::string quoted(const std::string& name) { return "'" + name + "'"; }

} // namespace

Engine::Engine(Settings settings, tuned::File file, Services services)
    : settings_(std::move(settings)), file_(std::move(file)), services_(std::move(services)),
      pool_(*new Pool(settings_.asyncThreads)), reader_([this](const embed::KernelBlob& kernel) {
        return file_.find(kernel.kernel) || file_.names.contains(kernel.codeHash);
      }),
      report_("JitEngineDevice", reportNames(settings_)) {}

int Engine::launchOtherwise(const mneme_launch& launch) {
  if (settings_.trace.cache)
    counters_.otherLaunches.fetch_add(1, std::memory_order_relaxed);
  const CancellationOfCaller asCaller;
  return mneme_rt_call_vendor(&launch);
}

int Engine::launch(const mneme_launch& launch) {
  if (isOff_.load(std::memory_order_relaxed) || mneme_jit_is_disabled())
    return mneme_rt_call_vendor(&launch);
  Kernel* kernel = table_.find(launch.kernel);
  if (kernel && !kernel->isTuned())
    return mneme_rt_call_vendor(&launch);
  const DeferredCancellation deferred;
  if (!kernel)
    kernel = resolve(launch);
  if (!kernel->isTuned()) {
    const CancellationOfCaller asCaller;
    return mneme_rt_call_vendor(&launch);
  }

  Backend& backend = *backend_.load(std::memory_order_relaxed);
  const bool isCaptured = backend.isCaptured(launch);
  if (isCaptured && !needsOwnBounds(*kernel, launch))
    return launchCaptured(*kernel, launch);
  const LaunchShape shape{.device = backend.currentDevice(),
                          .mayReshape = !isCaptured && backend.mayReshape(launch),
                          .dims = {launch.grid, launch.block},
                          .sharedBytes = launch.sharedBytes,
                          .plugins = mneme_jit_pass_plugins()};
  if (shape.device < 0)
    return launchOtherwise(launch);
  Plan plan;
  if (!planOf(*kernel, backend, shape, launch.args, plan))
    return launchOtherwise(launch);
  LoadedKernel* const loaded = loadedFor(plan);
  int status = 0;
  const auto start = [&] { return backend.launch(*loaded, launch, plan.dims, status); };
  if (!loaded || !(start() || (kernel->isMarked() && backend.allowSharedMemory(launch) && start())))
    return launchOtherwise(launch);
  if (settings_.trace.cache)
    counters_.tunedLaunches.fetch_add(1, std::memory_order_relaxed);
  return status;
}

LoadedKernel* Engine::loadedFor(const Plan& plan) {
  if (!plan.binary || plan.binary->hasFailed())
    return nullptr;
  if (CacheReport::Entry* uses = plan.binary->uses())
    uses->uses.fetch_add(1, std::memory_order_relaxed);
  LoadedKernel* const loaded = plan.binary->loaded();
  return loaded ? loaded : obtain(*plan.binary);
}

void Engine::forget(const mneme_module_entry* module) noexcept {
  if (isOff_.load(std::memory_order_relaxed))
    return;
  table_.forget(module);
  reader_.forget(module);
}

Kernel* Engine::resolve(const mneme_launch& launch) noexcept {
  const std::unique_lock lock(resolving_, std::chrono::duration<double>(settings_.graceSeconds));
  if (!lock) // this thread may hold what the other one waits for
    return &untuned_;
  if (Kernel* known = table_.find(launch.kernel))
    return known;
  const mneme_module_entry* module = nullptr;
  const char* name = nullptr;
  Kernel* kernel = &untuned_;
  try {
    if (mneme_rt_find_kernel(launch.kernel, &module, &name))
      kernel = makeKernel(launch, module, name);
    table_.insert(launch.kernel, module, kernel);
  } catch (const std::exception&) { // no memory: asked again at the next launch
    return &untuned_;
  }
  return kernel;
}

Kernel* Engine::makeKernel(const mneme_launch& launch, const mneme_module_entry* module,
                           const char* name) {
  const tuned::Kernel* const tuned = file_.find(name);
  if (!tuned && !settings_.hasMarks && file_.names.empty()) {
    warnOfOtherCode(name);
    return &untuned_;
  }
  try {
    const Stopwatch watch(counters_.readNs);
    std::optional<KernelCode> code = tuned ? reader_.read(launch.kernel, module, name)
                                           : reader_.find(launch.kernel, module, name);
    if (!code) {
      warnOfOtherCode(name);
      return &untuned_;
    }
    std::vector<tuned::Variant> variants = tunedVariants(*code);
    std::optional<tuned::Variant> own;
    if (code->blob->marks && settings_.hasMarks)
      own = markedVariant(settings_.marked, module->vendor != 0);
    for (tuned::Variant& variant : variants)
      if (own && !variant.boundIndices)
        variant.boundIndices = own->boundIndices;
    if (variants.empty() && !own)
      return &untuned_;
    makeBackend(launch);
    if (!backend_.load())
      return &untuned_;
    kernels_.push_back(
        std::make_unique<Kernel>(std::move(*code), std::move(variants), std::move(own)));
    return kernels_.back().get();
  } catch (const std::exception& error) {
    warn(sentence("tuned kernel '", name, "' is not used: ", error.what(), kRunsAsBuilt),
         sentence("'", name, "'"));
    return &untuned_;
  }
}

/// Returns none, and reports it, if the file is for other code.
std::vector<tuned::Variant> Engine::tunedVariants(const KernelCode& code) {
  const embed::KernelBlob& blob = *code.blob;
  const tuned::OfCode ofCode = file_.variantsFor(code.name, blob.staticHash, blob.codeHash);
  if (!ofCode.otherName.empty() && stale_.insert(code.name).second)
    warn(
        "kernel '" + code.name + "' has the code that was tuned as '" + ofCode.otherName +
            "', and runs as that was tuned; 'mneme deploy --rebase' writes the file for this build",
        quoted(code.name));
  if (ofCode.variants.empty() && ofCode.hasName)
    warnOfCode(code.name,
               "hash " + toHex(blob.staticHash) + ", tuned " + file_.find(code.name)->hashesText());
  else if (ofCode.variants.empty())
    warnOfOtherCode(code.name);
  return fittingVariants(ofCode.variants, code);
}

void Engine::warnOfOtherCode(const std::string& name) {
  const std::vector<std::string> alike = file_.namesLike(name);
  const std::string base = tuned::nameWithoutHash(name);
  const auto isAlike = [&](const auto& kernel) {
    return tuned::nameWithoutHash(kernel->code().name) == base;
  };
  if (alike.empty() || std::ranges::any_of(kernels_, isAlike))
    return;
  std::string list;
  for (const std::string& one : alike)
    list += ", " + one;
  warnOfCode(base, name + list.replace(0, 2, "; tuned "));
}

void Engine::warnOfCode(const std::string& name, const std::string& codes) {
  const std::string why =
      "its code is not the one that was tuned (" + codes +
      "); tune it again, unless 'mneme deploy --check' finds that code under another name";
  if (stale_.insert(name).second)
    warn(sentence("tuned kernel '", name, "' is not used: ", why, kRunsAsBuilt), quoted(name));
}

std::vector<tuned::Variant> Engine::fittingVariants(const std::vector<tuned::Variant>& ofCode,
                                                    const KernelCode& code) const {
  std::vector<tuned::Variant> fitting;
  for (size_t i = 0; i < ofCode.size(); ++i)
    if (const std::string why = whyUnfit(ofCode[i], *code.blob); why.empty())
      fitting.push_back(fitted(ofCode[i], i, code));
    else
      warn("variant " + std::to_string(i) + " of tuned kernel '" + code.name +
               "' is not used: " + why,
           quoted(code.name));
  return fitting;
}

tuned::Variant Engine::fitted(tuned::Variant variant, size_t index, const KernelCode& code) const {
  completeMatch(variant.match, *code.blob);
  if (code.blob->marks)
    variant.specializeArgs |= !variant.saysSpecializeArgs;
  else
    variant.boundIndices.reset();
  if (!variant.launch)
    return variant;
  if (const std::string why = whyKeepsDims(variant, code); !why.empty()) {
    warn("variant " + std::to_string(index) + " of tuned kernel '" + code.name +
             "' keeps the program's grid and block: " + why,
         quoted(code.name));
    variant.launch.reset();
  }
  return variant;
}

void Engine::makeBackend(const mneme_launch& launch) {
  if (ownedBackend_ || isOff_.load())
    return;
  std::string why;
  try {
    ownedBackend_ = services_.makeBackend(launch, why);
  } catch (const std::exception& error) {
    why = error.what();
  }
  backend_.store(ownedBackend_.get());
  if (ownedBackend_)
    return;
  services_.warn("kernels run as they were built, not as tuned: " + why);
  turnOff();
}

std::string Engine::targetOf(int device) {
  const std::lock_guard lock(targetsMutex_);
  if (const auto known = targets_.find(device); known != targets_.end())
    return known->second;
  std::string target;
  try {
    target = backend_.load()->target(device);
  } catch (const Error& error) {
    services_.warn("kernels on device " + std::to_string(device) +
                   " run as they were built, not as tuned: " + error.what());
  }
  return targets_[device] = target;
}

bool Engine::planOf(Kernel& kernel, Backend& backend, const LaunchShape& shape, void** args,
                    Plan& plan) noexcept {
  if (kernel.readsPointees()) {
    ReadableArgs readable(backend, kernel.decisive(), args, kernel.code().blob->args.size());
    return readable.get() && recallOrMake(kernel, shape, readable.get(), plan);
  }
  return recallOrMake(kernel, shape, args, plan);
}

bool Engine::recallOrMake(Kernel& kernel, const LaunchShape& shape, void** args,
                          Plan& plan) noexcept {
  if (const Plan* known = kernel.recall(shape, args)) {
    plan = *known;
    return true;
  }
  return makePlan(kernel, shape, args, plan);
}

bool Engine::makePlan(Kernel& kernel, const LaunchShape& shape, void** args, Plan& plan) noexcept {
  try {
    plan = kernel.plan(shape, args, [&] { return decide(kernel, shape, args); });
    return true;
  } catch (const std::exception& error) { // no memory
    warn(sentence("a launch of '", kernel.code().name, "' runs as it was built: ", error.what()),
         sentence("'", kernel.code().name, "'"));
    return false;
  }
}

Plan Engine::decide(Kernel& kernel, const LaunchShape& shape, void** args) {
  const tuned::LaunchFacts facts{.arch = targetOf(shape.device),
                                 .dims = shape.dims,
                                 .sharedBytes = shape.sharedBytes,
                                 .args = args};
  Plan plan{.binary = nullptr, .dims = shape.dims};
  // What no device launches is the vendor's to refuse.
  if (facts.arch.empty() || !isPossible(shape.dims))
    return plan;
  tuned::Choice choice = kernel.choose(facts);
  if (choice.closeness == tuned::Closeness::None)
    choice.variant = kernel.variants().size();
  if (choice.closeness == tuned::Closeness::None && !kernel.isMarked()) {
    warnOfOtherDevices(kernel, facts.arch);
  } else {
    kernel.setServed();
    const tuned::Variant& variant = kernel.variant(choice.variant);
    if (shape.mayReshape && variant.launch)
      plan.dims = overrideDims(*variant.launch, shape.dims, choice.likeness).value_or(shape.dims);
    // Bounds in the source hold for blocks the variant does not state itself.
    const uint32_t bound = kernel.code().blob->maxThreads;
    if (!variant.launchBounds && bound != 0 && tuned::volume(plan.dims.block).value_or(0) > bound)
      plan.dims = shape.dims;
    BinarySpec spec{.target = facts.arch,
                    .dims = plan.dims,
                    .placesGlobals = backend_.load()->needsPlacedGlobals(),
                    .wantsIr = settings_.dumpsIr || settings_.trace.ir,
                    .wantsTrace = settings_.trace.specialization};
    if (kernel.isMarked()) {
      spec.rank = rankText();
      spec.plugins = presentPassPlugins();
    }
    const std::vector<ValueSource> sources = kernel.valueSources(variant);
    spec.values = valuesOf(sources, args);
    spec.lambdaValues = kernel.lambdaValues(args);
    const BinaryAnswer found = binaryFor(kernel, choice.variant, shape.device, spec);
    plan.binary = found.binary;
    plan.isFinal = !found.isTooSoon;
    if (!plan.binary)
      plan.dims = shape.dims;
  }
  if (settings_.trace.kernels && !kernel.isMarked())
    tracePlan(kernel, shape, choice, plan);
  return plan;
}

BinaryAnswer Engine::binaryFor(Kernel& kernel, size_t variant, int device, const BinarySpec& spec) {
  const BinaryAnswer found = kernel.findBinary(variant, device, spec, settings_.maxBinaries);
  if (!found.binary && !found.isTooSoon)
    warn("kernel '" + kernel.label() + "' has " + std::to_string(settings_.maxBinaries) +
             " tuned binaries already (MNEME_JIT_MAX_BINARIES): launches with further values "
             "run as they were built",
         quoted(kernel.label()));
  else if (found.isNew && kernel.isMarked())
    found.binary->setUses(usesOf(kernel, spec, found.binary->variant()));
  else if (found.isNew && settings_.trace.specialization)
    traceValues(*found.binary);
  return found;
}

LoadedKernel* Engine::obtain(Binary& binary) noexcept {
  while (true)
    switch (binary.next()) {
    case Binary::Step::Build:
      if (!startBuilding(binary))
        return nullptr;
      break;
    case Binary::Step::Load:
      load(binary);
      break;
    case Binary::Step::Wait: {
      if (settings_.isAsync && !settings_.waitsForAsync)
        return nullptr;
      const double limit = settings_.timeoutSeconds;
      // The thread that compiles it may need a lock that this thread holds.
      if (!binary.wait(limit > 0 ? limit + settings_.graceSeconds : 0))
        return nullptr;
      break;
    }
    case Binary::Step::Done:
      return binary.loaded();
    }
}

bool Engine::startBuilding(Binary& binary) {
  if (!settings_.isAsync && !binary.kernel().isMarked()) {
    build(binary);
    return true;
  }
  try {
    if (buildFromStore(binary))
      return true;
    if (!settings_.isAsync) {
      build(binary);
      return true;
    }
    pool_.submit([this, &binary] { build(binary); });
  } catch (const std::exception& error) {
    fail(binary, "compiled", error);
  }
  return settings_.waitsForAsync;
}

/// So that launches of a run with a full cache are tuned from the first one on.
bool Engine::buildFromStore(Binary& binary) {
  const bool isMarked = binary.kernel().isMarked();
  if (binary.spec().wantsIr && !isMarked) // people look at it: no hurry
    return false;
  compile::Result result;
  const compile::Request request =
      makeRequest(binary.kernel().code(), binary.variant(), binary.spec());
  const bool isFound = services_.findStored(request, result);
  if (isMarked)
    report_.countStored(isFound ? result.cacheLevel : CacheReport::kNowhere);
  if (!isFound)
    return false;
  if (isMarked)
    traceMarked(binary, request, result);
  ++counters_.built;
  ++counters_.fromStore;
  binary.built(std::move(result.image), request.symbol);
  return true;
}

compile::Result Engine::compileFor(const Binary& binary, const compile::Request& request) const {
  try {
    return services_.compile(request);
  } catch (const Error& error) {
    // A tuned-kernels file must not end the program; only a marked kernel may.
    if (binary.kernel().isMarked() && binary.kernel().variants().empty())
      refuseUnusable(request, error);
    throw;
  }
}

void Engine::build(Binary& binary) noexcept {
  try {
    const Stopwatch watch(counters_.compileNs);
    compile::Request request = makeRequest(binary.kernel().code(), binary.variant(), binary.spec());
    if (binary.kernel().isMarked())
      askForMore(request, settings_);
    compile::Result result = compileFor(binary, request);
    passOnPrinted(result.printed);
    if (binary.kernel().isMarked()) {
      traceMarked(binary, request, result);
      if (!result.isFromCache)
        keepOutputs(settings_, request.kernel, requestHash(binary.kernel().code(), request),
                    result);
    }
    ++counters_.built;
    counters_.fromStore += result.isFromCache ? 1 : 0;
    if (binary.spec().wantsIr)
      dumpIr(binary, request, result.ir);
    binary.built(std::move(result.image), request.symbol);
  } catch (const std::exception& error) {
    fail(binary, "compiled", error);
  } catch (...) {
    fail(binary, "compiled", "unknown exception");
  }
}

void Engine::load(Binary& binary) noexcept {
  try {
    const Stopwatch watch(counters_.loadNs);
    const KernelCode& code = binary.kernel().code();
    binary.ready(
        backend_.load()->load({.image = binary.image(),
                               .kernel = binary.symbol().empty() ? code.name : binary.symbol(),
                               .handle = code.handle,
                               .module = code.module,
                               .globals = globalsOf(code),
                               .sharedCarveout = binary.variant().sharedCarveout,
                               .hasOwnBounds = code.blob->marks && binary.variant().launchBounds}));
  } catch (const std::exception& error) {
    fail(binary, "loaded", error);
  } catch (...) {
    fail(binary, "loaded", "unknown exception");
  }
}

void Engine::fail(Binary& binary, const char* doing, const std::exception& error) noexcept {
  if (!isKnownCause(error))
    return fail(binary, doing, error.what());
  ++counters_.failed;
  binary.fail();
}

void Engine::fail(Binary& binary, const char* doing, const char* why) noexcept {
  ++counters_.failed;
  try { // reported before a waiting thread continues
    const bool isTuned = !binary.kernel().isOwn(binary.variant());
    const std::string what = std::string("cannot be ") + doing + (isTuned ? " as tuned" : "");
    warn("kernel '" + binary.kernel().label() +
             (isTuned ? "' " : "', which the program marks for compilation at run time, ") + what +
             ": " + why + kRunsAsBuilt,
         quoted(binary.kernel().label()));
  } catch (const std::exception&) { // no memory for the sentence
  }
  binary.fail();
}

} // namespace mneme::jit
