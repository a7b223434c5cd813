#include "runtime/jit/loaded/loaded_engine.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/core/abi/argument_buffer.h"
#include "runtime/core/base/cancellation.h"
#include "runtime/core/base/demangled.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/grouped_notices.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/sentence.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/ptx_limits.h"
#include "runtime/core/loaded/image_places.h"
#include "runtime/jit/loaded/variant_code.h"
#include "runtime/jit/tuned/launch_line.h"

namespace mneme::jit {
namespace {

constexpr size_t kMostLines = 4096; // of a trace

bool isWhole(const tuned::Variant& variant, const std::vector<KernelArg>& args) {
  return std::ranges::equal(variant.match.argSizes, args, {}, {}, &KernelArg::sizeBytes);
}

std::set<std::string> namesIn(const tuned::File& file) {
  std::set<std::string> names; // in an order that does not change
  for (const auto& [name, kernel] : file.kernels)
    names.insert(name);
  return names;
}

/// Whether code has variables that other code would not share. Texts of the compiler's (names of
/// LLVM's and of nvcc's) are the same everywhere.
bool hasOwnVariables(const embed::DeviceCode& code) {
  return std::ranges::any_of(code.variables, [](const embed::DeviceVariable& variable) {
    return !variable.name.starts_with("_$_str") && !variable.name.starts_with("$str");
  });
}

} // namespace

LoadedEngine::LoadedEngine(tuned::File file, LoadedDriver& driver, Services services)
    : file_(file), withIr_(std::move(file)), driver_(driver), services_(std::move(services)) {
  keepOnly(file_, tuned::CodeKind::WithoutIr);
  keepOnly(withIr_, tuned::CodeKind::WithIr);
  if (!services_.compile)
    withIr_ = {};
  if (file_.kernels.empty() && withIr_.kernels.empty())
    turnOff();
}

void LoadedEngine::warn(const std::string& kernel, const std::string& why) const noexcept {
  try {
    services_.warn(
        sentence("tuned kernel '", kernel, "' is not used: ", why, "; it runs as it was built"));
  } catch (const std::exception&) { // no memory for a sentence
  }
}

/// Whether an image has the code of an entry of the file.
bool LoadedEngine::isWanted(uint64_t contentHash) const {
  return std::ranges::any_of(file_.kernels, [&](const auto& item) {
    const uint64_t hash = combineHashes(contentHash, hash64(item.first));
    return std::ranges::any_of(item.second.variants, [&](const tuned::Variant& variant) {
      return variant.staticHash == hash;
    });
  });
}

void LoadedEngine::add(void* module, Scope scope, Read read, bool isReadNow) noexcept {
  try {
    auto known = std::make_shared<loaded::LoadedModule>();
    known->handle = module;
    known->isLibrary = scope == Scope::AllContexts;
    known->read = [this, read = std::move(read), isReadNow] {
      loaded::LoadedContent content;
      try {
        content.image = read();
        // What is built in is a unit's, whose launches the engine for those sees.
        if (isReadNow && content.image.bytes && !withIr_.kernels.empty())
          content.blobs =
              std::make_shared<const embed::BlobSet>(embed::readDeviceImage(*content.image.bytes));
      } catch (const std::exception&) { // not code that this release can read
      }
      return content;
    };
    if (isReadNow && !isWanted(known->content().image.contentHash) &&
        !hasTunedIr(*known->content().blobs, withIr_))
      return;
    modules_.add(std::move(known));
    hasModules_.store(true, std::memory_order_relaxed);
  } catch (const std::exception&) { // no memory: its kernels run as they are
  }
}

/// As the recorder has it.
embed::CodeImage LoadedEngine::withOptions(embed::CodeImage image, const JitOptions& options) {
  return embed::withJitOptions(std::move(image), options,
                               options.empty() ? "" : targetOf(driver_.currentDevice()));
}

/// What is built in stays where it is, and is read when a kernel of a known name is launched.
/// Programs may free other code at once.
void LoadedEngine::moduleLoaded(void* module, const void* image, Scope scope,
                                const JitOptions& options) noexcept {
  if (isOff_.load(std::memory_order_relaxed))
    return;
  moduleUnloaded(module); // a handle that was used before
  if (!image)
    return;
  if (loaded::isOfLibrary(image, loaded::kKernelLibraries))
    add(
        module, scope,
        [this, image] { return loaded::imageOfVendor(image, targetOf(driver_.currentDevice())); },
        false);
  else
    add(
        module, scope,
        [this, image, options] {
          return withOptions(embed::copyImage(embed::imageInMemory(image)), options);
        },
        !loaded::staysInPlace(image));
}

void LoadedEngine::moduleLoadedFrom(void* module, const char* path, Scope scope,
                                    const JitOptions& options) noexcept {
  if (isOff_.load(std::memory_order_relaxed))
    return;
  moduleUnloaded(module);
  const auto read = [this, path, &options] { // now
    const std::vector<std::byte> file = apart([&] { return readFile(path); });
    return withOptions(embed::copyImage(file), options);
  };
  if (path)
    add(module, scope, read, true);
}

void LoadedEngine::forget() noexcept {
  const std::unique_lock lock(mutex_);
  kernels_.clear();
}

void LoadedEngine::moduleUnloaded(void* module) noexcept {
  if (!hasModules_.load(std::memory_order_relaxed))
    return;
  if (modules_.remove(module))
    forget();
}

void LoadedEngine::moduleAskedFor(void* library, void* module) noexcept {
  if (!hasModules_.load(std::memory_order_relaxed))
    return;
  try {
    modules_.addModuleOf(library, module);
  } catch (const std::exception&) { // no memory, as above
  }
}

void LoadedEngine::kernelAskedFor(const void* function, void* module, const char* name) noexcept {
  if (!hasModules_.load(std::memory_order_relaxed))
    return;
  try {
    modules_.addKernel(function, module, name);
    const std::unique_lock lock(mutex_);
    kernels_.erase(function);
  } catch (const std::exception&) { // no memory, as above
  }
}

void LoadedEngine::aliasAskedFor(const void* function, const void* kernel) noexcept {
  if (!hasModules_.load(std::memory_order_relaxed))
    return;
  try {
    modules_.addAlias(function, modules_.firstHandle(kernel));
    const std::unique_lock lock(mutex_);
    kernels_.erase(function);
  } catch (const std::exception&) { // no memory, as above
  }
}

std::string LoadedEngine::targetOf(int device) {
  const std::lock_guard lock(toldMutex_);
  std::string& target = targets_[device];
  if (target.empty())
    target = driver_.target(device);
  return target;
}

std::shared_ptr<LoadedEngine::ChangedCode> LoadedEngine::changedCodeOf(uint64_t staticHash) {
  const std::unique_lock lock(mutex_);
  std::shared_ptr<ChangedCode>& known = changed_[staticHash];
  if (!known)
    known = std::make_shared<ChangedCode>();
  return known;
}

/// Null if the code carries no IR of the kernel, or the file has nothing for it.
std::shared_ptr<LoadedEngine::Kernel> LoadedEngine::readIr(const loaded::LoadedKernel& known) {
  std::optional<KernelCode> code = irOf(*known.module->content().blobs, known.name);
  if (!code)
    return nullptr;
  auto kernel = std::make_shared<Kernel>();
  kernel->variants = variantsFor(*code, withIr_);
  if (kernel->variants.empty())
    return nullptr;
  // A library's kernel has a handle in each context, too.
  kernel->context = driver_.currentContext();
  kernel->blob = *code->blob;
  kernel->hasVariables = !globalsOf(*code).empty();
  kernel->changed = changedCodeOf(kernel->blob.staticHash);
  kernel->ir = std::make_shared<const KernelCode>(std::move(*code));
  return kernel;
}

/// Null if the file has nothing for the kernel's code.
std::shared_ptr<LoadedEngine::Kernel> LoadedEngine::read(const void* function, int device) {
  const void* const first = modules_.firstHandle(function);
  const auto known = first ? modules_.find(first) : std::nullopt;
  if (known)
    if (auto kernel = readIr(*known))
      return kernel;
  const auto entry = known ? file_.kernels.find(known->name) : file_.kernels.end();
  if (entry == file_.kernels.end())
    return nullptr;
  const embed::CodeImage& image = known->module->content().image;
  if (!image.bytes || !isWanted(image.contentHash))
    return nullptr;
  try {
    const embed::DeviceCode code = embed::readCode(image, targetOf(device));
    const embed::DeviceKernel* const described = code.find(known->name);
    const auto parameters =
        described && described->parameters ? described->parameters : driver_.parametersOf(first);
    if (!parameters)
      throw Error(ErrorCode::Unsupported, "nothing tells where its arguments lie");
    auto kernel = std::make_shared<Kernel>();
    if (!known->module->isLibrary || function != first)
      kernel->context = driver_.currentContext();
    kernel->blob = embed::withoutIr(image, code, known->name, *parameters);
    kernel->hasVariables = hasOwnVariables(code) || hasHandles(*image.bytes);
    for (const tuned::Variant& variant : entry->second.variants)
      if (variant.staticHash == kernel->blob.staticHash && isWhole(variant, kernel->blob.args))
        kernel->variants.push_back(variant);
    if (!kernel->variants.empty()) {
      kernel->changed = changedCodeOf(kernel->blob.staticHash);
      return kernel;
    }
    if (std::ranges::any_of(entry->second.variants, [&](const tuned::Variant& variant) {
          return variant.staticHash == kernel->blob.staticHash;
        }))
      warn(known->name, "the file has arguments of other sizes");
  } catch (const Error& error) {
    warn(known->name, error.what());
  }
  return nullptr;
}

std::optional<std::shared_ptr<LoadedEngine::Kernel>>
LoadedEngine::findKnown(const void* function) noexcept {
  const std::shared_lock lock(mutex_);
  const auto known = kernels_.find(function);
  return known == kernels_.end() ? std::nullopt : std::optional(known->second);
}

std::shared_ptr<LoadedEngine::Kernel> LoadedEngine::find(const void* function,
                                                         int device) noexcept {
  try {
    std::shared_ptr<Kernel> kernel = read(function, device);
    const std::unique_lock lock(mutex_);
    return kernels_.try_emplace(function, std::move(kernel)).first->second;
  } catch (const std::exception&) { // no memory, or no target: asked again
    return nullptr;
  }
}

std::shared_ptr<LoadedEngine::Kernel> LoadedEngine::tunedHere(const void* function,
                                                              int device) noexcept {
  const auto known = findKnown(function);
  std::shared_ptr<Kernel> kernel = known ? *known : find(function, device);
  const bool isHere =
      kernel && (kernel->context == 0 || kernel->context == driver_.currentContext());
  return isHere ? kernel : nullptr;
}

std::optional<TunedLaunch> LoadedEngine::planOf(const DriverLaunch& launch) noexcept {
  if (!hasModules_.load(std::memory_order_relaxed) || isOff_.load(std::memory_order_relaxed))
    return std::nullopt;
  const auto known = findKnown(launch.function);
  if (known && !*known)
    return std::nullopt;
  const int device = driver_.currentDevice();
  if (device < 0)
    return std::nullopt;
  const std::shared_ptr<Kernel> kernel = tunedHere(launch.function, device);
  if (!kernel || driver_.isCaptured(launch.stream))
    return std::nullopt;
  try {
    return choose(*kernel, launch, device);
  } catch (const std::exception&) { // no memory
    return std::nullopt;
  }
}

void LoadedEngine::graphChanged(const LoadedGraph& graph) noexcept {
  if (isOff_.load(std::memory_order_relaxed))
    return;
  const DeferredCancellation deferred;
  try {
    const bool isTaken = sources_.note(graph.exec, graph.graph, graph.isUpdate);
    const int device =
        isTaken && hasModules_.load(std::memory_order_relaxed) ? driver_.currentDevice() : -1;
    if (device < 0)
      return;
    driver_.visitKernels(
        graph, [&](const void* function) { return function && tunedHere(function, device); },
        [&](const LoadedGraphKernel& one) { tuneIn(graph, one, device); });
  } catch (const std::exception&) { // no memory: the graph runs as it was built
  }
}

void LoadedEngine::tuneIn(const LoadedGraph& graph, const LoadedGraphKernel& one, int device) {
  for (const void* function : {one.function, one.kernel}) {
    const auto kernel = function ? tunedHere(function, device) : nullptr;
    if (!kernel)
      continue;
    const auto plan = choose(*kernel,
                             {.function = function,
                              .dims = one.dims,
                              .sharedBytes = one.sharedBytes,
                              .args = one.args,
                              .extra = one.extra,
                              .mayReshape = one.mayReshape},
                             device);
    const bool isRefused =
        plan && !driver_.replaceIn(
                    graph, one, plan->function == function ? nullptr : plan->function, plan->dims);
    if (isRefused && !graph.isUpdate) // an update may be by a new graph with the handle of that
      warn(kernel->blob.kernel, "the driver does not take it into a graph");
    return;
  }
}

std::optional<TunedLaunch> LoadedEngine::choose(Kernel& kernel, const DriverLaunch& launch,
                                                int device) {
  std::vector<void*> unpacked;
  if (!launch.args && !unpackArguments(launch.extra, kernel.blob.args, unpacked))
    return std::nullopt; // the driver has to say what is wrong
  const tuned::LaunchFacts facts{.arch = targetOf(device),
                                 .dims = launch.dims,
                                 .sharedBytes = launch.sharedBytes,
                                 .args = launch.args ? launch.args : unpacked.data()};
  if (!isPossible(launch.dims)) // the driver's to refuse
    return std::nullopt;
  const tuned::Choice choice = tuned::choose(kernel.variants, facts);
  std::optional<TunedLaunch> chosen;
  if (choice.closeness != tuned::Closeness::None) {
    const tuned::Variant& variant = kernel.variants[choice.variant];
    TunedLaunch wanted{.function = launch.function, .dims = launch.dims};
    if (variant.launch && launch.mayReshape)
      wanted.dims =
          overrideDims(*variant.launch, launch.dims, choice.likeness).value_or(launch.dims);
    const bool isOther = kernel.ir || hasOtherCode(variant);
    const bool isPossible = isOther && (kernel.ir || takesBlock(variant, wanted.dims.block));
    void* const changed =
        isPossible ? changedCode(kernel, choice.variant, launch, wanted.dims, facts.args) : nullptr;
    if (changed)
      wanted.function = changed;
    // Dimensions were tried with this code only.
    if (isOther && !changed)
      wanted.dims = launch.dims;
    if (changed || !(wanted.dims == launch.dims))
      chosen = wanted;
    if (chosen && !kernel.isUsed.exchange(true, std::memory_order_relaxed)) {
      const std::lock_guard lock(toldMutex_);
      used_.insert(kernel.blob.kernel);
    }
  }
  if (services_.trace)
    trace(kernel, launch, device, choice, chosen);
  return chosen;
}

void LoadedEngine::report() noexcept {
  const std::unique_lock lock(toldMutex_, std::try_to_lock);
  if (!lock || isOff_.load(std::memory_order_relaxed))
    return;
  try {
    Grouped idle;
    for (const std::string& name : namesIn(file_))
      if (!used_.contains(name))
        idle.add("tuned kernel '" + name +
                     "' was not used: no launch of it had the code and the arguments that it was "
                     "tuned for",
                 "'" + name + "'");
    for (const std::string& one : idle.sentences())
      services_.warn(one);
  } catch (const std::exception&) { // no memory for a sentence
  }
}

void LoadedEngine::trace(const Kernel& kernel, const DriverLaunch& launch, int device,
                         const tuned::Choice& choice,
                         const std::optional<TunedLaunch>& chosen) noexcept {
  try {
    const std::string line = tuned::lineOf({.kernel = kernel.blob.demangled,
                                            .launched = launch.dims,
                                            .sharedBytes = launch.sharedBytes,
                                            .device = device,
                                            .choice = choice,
                                            .isTuned = chosen.has_value(),
                                            .used = chosen ? chosen->dims : launch.dims});
    {
      const std::lock_guard lock(toldMutex_);
      if (lines_.size() >= kMostLines || !lines_.insert(line).second)
        return;
    }
    services_.trace(line);
  } catch (const std::exception&) { // no memory for a line
  }
}

} // namespace mneme::jit
