// Finds the IR of a kernel that is launched, has it compiled and loads the image (kernels.h).
#include <algorithm>
#include <functional>
#include <mutex>
#include <set>

#include <dlfcn.h>
#include <nlohmann/json.hpp>

#include "runtime/compiler/service/client.h"
#include "runtime/core/abi/variable_names.h"
#include "runtime/core/base/demangled.h"
#include "runtime/core/base/log.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/core/embed/containers.h"
#include "runtime/emulator/runtimes/core/global_arena.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/registry.h"

namespace mneme::cpu_runtime {
namespace {

// Every function here runs under the load lock, but for what loads images: the dynamic loader has a
// lock too, which threads hold that register and unregister fat binaries, as they wait for this
// one.

/// Thrown where an image has to be loaded first.
struct MissingImage {
  std::shared_ptr<void> owner; ///< of the place; null where the caller sees to that
  std::unique_ptr<device::cpu::Image>* place;
  std::function<std::vector<std::byte>()> compile;
};

/// Fills the place, unless another thread has done so meanwhile.
void load(const MissingImage& missing) {
  static auto* compiling = new std::mutex; // threads want the same kernels first
  std::unique_lock one(*compiling);
  const std::vector<std::byte> code = missing.compile();
  one.unlock();
  std::unique_ptr<device::cpu::Image> image = device::cpu::Image::load(code);
  const std::lock_guard lock(Registry::instance().load);
  if (!*missing.place)
    missing.place->swap(image);
}

/// Does the work under the load lock, again and again until no image is missing.
template <typename Work> auto withImages(const Work& work) {
  for (;;) {
    MissingImage missing;
    try {
      const std::lock_guard lock(Registry::instance().load);
      return work();
    } catch (MissingImage& found) {
      missing = std::move(found);
    }
    load(missing);
  }
}

void read(FatBinary& binary) {
  if (binary.isRead || !binary.data)
    return;
  binary.blobs = embed::readFatBinary(binary.data);
  if (binary.blobs.kernels.empty())
    binary.blobs = embed::readCpuKernel(embed::imageInMemory(binary.data));
  binary.isRead = true;
}

/// The fat binary that holds the kernel's IR: its own, or (relocatable device code) one of the same
/// ELF object.
std::shared_ptr<FatBinary> homeOf(const Kernel& kernel) {
  for (const auto& binary : siblings(kernel.binary)) {
    read(*binary);
    if (binary->blobs.kernels.contains(kernel.name))
      return binary;
  }
  return nullptr;
}

constexpr size_t kNamesPerObject = 4;
constexpr size_t kLongestName = 100; ///< of a template, which may have thousands of characters

/// The file of an ELF object without its directories.
std::string fileOf(const FatBinary& binary) {
  Dl_info info{};
  const std::string path = dladdr(binary.objectBase, &info) && info.dli_fname ? info.dli_fname : "";
  return "'" + path.substr(path.rfind('/') + 1) + "'";
}

std::string shortName(const std::string& mangled) {
  const std::string name = demangled(mangled);
  if (name.size() <= kLongestName)
    return name;
  const size_t half = (kLongestName - 3) / 2;
  return name.substr(0, half) + "..." + name.substr(name.size() - half);
}

/// "3 of 'libx.so' (a(), b(), c())" for each object.
std::string listed(const std::map<std::string, std::set<std::string>>& namesByFile) {
  std::string text;
  for (const auto& [file, names] : namesByFile) {
    text += (text.empty() ? "" : "; ") + std::to_string(names.size()) + " of " + file + " (";
    size_t count = 0;
    for (const std::string& name : names) {
      if (count == kNamesPerObject)
        text += ", ...";
      if (count++ >= kNamesPerObject)
        break;
      text += (count == 1 ? "" : ", ") + name;
    }
    text += ")";
  }
  return text;
}

/// Before the first kernel runs, and again where libraries were loaded since, names the program's
/// kernels that cannot: once they are launched, it may be too late for what ran before.
void listKernelsWithoutIr() {
  Registry& registry = Registry::instance();
  std::vector<std::shared_ptr<Kernel>> unseen;
  {
    const std::shared_lock lock(registry.tables);
    if (registry.kernels.size() == registry.listedKernels)
      return;
    registry.listedKernels = registry.kernels.size();
    for (const auto& [handle, kernel] : registry.kernels)
      // Code that the program loads itself is refused where it is loaded.
      if (!kernel->isListed && kernel->binary->objectBase != kernel->binary.get())
        unseen.push_back(kernel);
  }
  std::map<std::string, std::set<std::string>> namesByFile;
  for (const auto& kernel : unseen) {
    kernel->isListed = true;
    try {
      if (!kernel->blob && !homeOf(*kernel))
        namesByFile[fileOf(*kernel->binary)].insert(shortName(kernel->name));
    } catch (const Error&) { // its launch reports damaged code
    }
  }
  if (!namesByFile.empty())
    notice("kernels without mneme IR do not run on the CPU device: " + listed(namesByFile) +
           "; build every library and program that has kernels with mneme, not the application "
           "alone: add_mneme() for each of these targets, or, for a whole project, cmake $(mneme "
           "config cmake-args)");
}

Status locate(Kernel& kernel) {
  if (kernel.blob)
    return Status::Success;
  const auto home = homeOf(kernel);
  if (!home) {
    noticeOnce("kernel '" + kernel.name +
               "' carries no mneme IR: build its target with add_mneme() (or -fpass-plugin), whose "
               "KERNELS, if given, match it, to run it on the CPU device");
    return Status::NoKernelImageForDevice;
  }
  kernel.blob = home->blobs.kernels.at(kernel.name);
  kernel.binary = home;
  return Status::Success;
}

std::vector<std::byte> compileImage(const Kernel& kernel) {
  if (kernel.blob->image)
    return *kernel.blob->image;
  compile::Request request;
  for (const auto& module : embed::modulesFor(kernel.binary->blobs, kernel.name))
    request.modules.push_back(module->bitcode);
  request.kernel = kernel.name;
  const auto metadata = nlohmann::json::parse(kernel.blob->metadataJson);
  if (metadata.contains("options"))
    request.optionsJson = metadata["options"].dump();
  return compile::compileCached(request).image;
}

std::shared_ptr<GlobalStorage> newStorage(const mneme_cpu_global& global) {
  void* address = GlobalArena::instance().allocate(global.sizeBytes, global.alignBytes, false);
  if (!address)
    throw Error(ErrorCode::OutOfMemory,
                "no room for device variable '" + std::string(global.name) + "'");
  Heap::instance().adopt(address, global.sizeBytes, MemoryKind::Device, 0);
  return std::make_shared<GlobalStorage>(
      GlobalStorage{global.name, address, global.sizeBytes, false});
}

void initialise(const std::shared_ptr<FatBinary>& binary, GlobalStorage& storage);

/// Variables with external linkage are listed in the metadata; others (tables, internal read-only
/// variables) are private to the kernel's code, whatever their name.
bool isListed(const Kernel& kernel, const char* name) {
  const auto isNamed = [&](const embed::KernelGlobal& global) { return global.name == name; };
  return std::ranges::any_of(
      embed::modulesFor(kernel.binary->blobs, kernel.name),
      [&](const auto& module) { return std::ranges::any_of(module->globals, isNamed); });
}

std::shared_ptr<GlobalStorage> storageFor(const Kernel& kernel, BoundImage& bound,
                                          const mneme_cpu_global& global) {
  if (global.isDefined && !isListed(kernel, global.name)) {
    auto& own = bound.ownGlobals[global.name];
    return own ? own : own = newStorage(global);
  }
  if (global.isDefined) {
    auto& shared = kernel.binary->globals[global.name];
    return shared ? shared : shared = newStorage(global);
  }
  for (const auto& other : siblings(kernel.binary))
    if (const auto found = other->globals.find(global.name); found != other->globals.end()) {
      initialise(other, *found->second);
      return found->second;
    }
  throw Error(ErrorCode::CompileFailed,
              "device variable '" + std::string(global.name) +
                  "' is defined in no translation unit that carries mneme IR: build all of them "
                  "with add_mneme()");
}

void bindGlobals(const Kernel& kernel, BoundImage& bound) {
  const mneme_cpu_image_header& header = bound.image->header();
  std::vector<bool> isFresh(header.globalCount, false);
  std::vector<std::shared_ptr<GlobalStorage>> fresh;
  bound.globals.clear();
  for (size_t index = 0; index < header.globalCount; ++index) {
    const mneme_cpu_global& global = header.globals[index];
    const auto storage = storageFor(kernel, bound, global);
    if (storage->bytes < global.sizeBytes)
      throw Error(ErrorCode::CompileFailed,
                  "device variable '" + storage->name + "' of kernel '" + kernel.name + "' has " +
                      std::to_string(global.sizeBytes) + " bytes, registered with " +
                      std::to_string(storage->bytes));
    bound.image->bindGlobal(index, storage->address);
    bound.globals.push_back(storage);
    if (global.isDefined && !storage->isInitialised) {
      isFresh[index] = true;
      fresh.push_back(storage);
    }
  }
  bound.image->initialiseGlobals(isFresh);
  for (const auto& storage : fresh)
    storage->isInitialised = true;
}

void makeReady(Kernel& kernel, const std::shared_ptr<Kernel>& owner) {
  if (!kernel.aheadOfTime.image)
    throw MissingImage{owner, &kernel.aheadOfTime.image,
                       [&kernel] { return compileImage(kernel); }};
  bindGlobals(kernel, kernel.aheadOfTime);
  kernel.isReady = true;
}

/// Registered kernels of one fat binary.
std::vector<std::shared_ptr<Kernel>> kernelsOf(const std::shared_ptr<FatBinary>& binary) {
  Registry& registry = Registry::instance();
  const std::shared_lock lock(registry.tables);
  std::vector<std::shared_ptr<Kernel>> result;
  for (const auto& [handle, kernel] : registry.kernels)
    if (kernel->binary->objectBase == binary->objectBase)
      result.push_back(kernel);
  return result;
}

/// The kernel's image holds the variable's initial value.
bool defines(const Kernel& kernel, const std::string& name) {
  const auto refersTo = [&](const embed::KernelBlob& blob, bool isDefined) {
    return std::ranges::any_of(blob.globals, [&](const embed::KernelGlobal& global) {
      return global.name == name && (global.isDefined || !isDefined);
    });
  };
  return refersTo(*kernel.blob, false) &&
         std::ranges::any_of(embed::modulesFor(kernel.binary->blobs, kernel.name),
                             [&](const auto& module) { return refersTo(*module, true); });
}

std::vector<std::byte> compileVariables(const FatBinary& binary) {
  compile::Request request;
  const auto hasCode = [](const auto& module) { return !module->arch.empty(); };
  const auto first = std::ranges::find_if(binary.blobs.modules, hasCode);
  for (const auto& module : binary.blobs.modules)
    if (!hasCode(module) || module->arch == (*first)->arch)
      request.modules.push_back(module->bitcode);
  request.kernel = kVariablesKernel;
  return compile::compileCached(request).image;
}

/// Initial values of variables that no kernel refers to: what units offer to others has them.
void initialiseUnreferenced(const std::shared_ptr<FatBinary>& binary) {
  if (binary->blobs.modules.empty())
    return;
  const auto& image = binary->variables;
  if (!image)
    throw MissingImage{binary, &binary->variables,
                       [&binary = *binary] { return compileVariables(binary); }};
  const mneme_cpu_image_header& header = image->header();
  std::vector<bool> isFresh(header.globalCount, false);
  std::vector<std::shared_ptr<GlobalStorage>> fresh;
  for (size_t index = 0; index < header.globalCount; ++index) {
    const mneme_cpu_global& global = header.globals[index];
    auto& storage = binary->globals[global.name];
    if (!storage)
      storage = newStorage(global);
    image->bindGlobal(index, storage->address);
    isFresh[index] =
        global.isDefined && !storage->isInitialised && storage->bytes >= global.sizeBytes;
    if (isFresh[index])
      fresh.push_back(storage);
  }
  image->initialiseGlobals(isFresh);
  for (const auto& storage : fresh)
    storage->isInitialised = true;
}

/// Puts the initial value in place: it is in the image of any kernel that refers to the global; the
/// smallest is taken.
void initialise(const std::shared_ptr<FatBinary>& binary, GlobalStorage& storage) {
  if (storage.isInitialised)
    return;
  std::shared_ptr<Kernel> smallest;
  for (const auto& kernel : kernelsOf(binary))
    if (locate(*kernel) == Status::Success && kernel->binary == binary &&
        defines(*kernel, storage.name) &&
        (!smallest || kernel->blob->bitcode.size() < smallest->blob->bitcode.size()))
      smallest = kernel;
  if (smallest)
    makeReady(*smallest, smallest);
  else
    initialiseUnreferenced(binary);
  storage.isInitialised = true;
}

} // namespace

Status describe(Kernel& kernel) {
  const std::lock_guard load(Registry::instance().load);
  listKernelsWithoutIr();
  return locate(kernel);
}

Status prepare(Kernel& kernel) {
  if (kernel.isReady.load(std::memory_order_acquire))
    return Status::Success;
  return withImages([&] {
    if (kernel.isReady)
      return Status::Success;
    const Status status = locate(kernel);
    if (status == Status::Success)
      makeReady(kernel, nullptr);
    return status;
  });
}

std::string programArch() {
  Registry& registry = Registry::instance();
  const std::lock_guard load(registry.load);
  const std::shared_lock lock(registry.tables);
  for (const auto& binary : registry.binaries) {
    read(*binary);
    if (!binary->blobs.kernels.empty())
      return binary->blobs.kernels.begin()->second->arch;
  }
  return {};
}

std::vector<std::shared_ptr<GlobalStorage>> globalsOf(const Kernel& kernel) {
  const std::lock_guard load(Registry::instance().load);
  std::vector<std::shared_ptr<GlobalStorage>> result = kernel.aheadOfTime.globals;
  std::set<std::string> names;
  for (const auto& storage : result)
    names.insert(storage->name);
  for (const auto& binary : siblings(kernel.binary))
    for (const auto& [name, storage] : binary->globals)
      if (storage && storage->isInitialised && names.insert(name).second)
        result.push_back(storage);
  return result;
}

std::shared_ptr<Variant> loadVariant(const std::shared_ptr<Kernel>& kernel,
                                     std::span<const std::byte> image) {
  auto variant = std::make_shared<Variant>();
  variant->kernel = kernel;
  variant->bound.image = device::cpu::Image::load(image);
  if (kernel->name != variant->bound.image->header().kernelName)
    throw Error(ErrorCode::InvalidArgument,
                "the image is of kernel '" +
                    std::string(variant->bound.image->header().kernelName) + "', not of '" +
                    kernel->name + "'");
  return variant;
}

Status prepare(Variant& variant) {
  const uint64_t life = deviceLife();
  if (variant.boundInLife.load(std::memory_order_acquire) == life)
    return Status::Success;
  return withImages([&] {
    if (variant.boundInLife == life)
      return Status::Success;
    const Status status = locate(*variant.kernel);
    if (status != Status::Success)
      return status;
    bindGlobals(*variant.kernel, variant.bound);
    variant.kernel->hasVariants = true;
    variant.boundInLife = life;
    return status;
  });
}

bool hasKernels(void* handle) {
  const auto binary = findBinary(handle);
  if (!binary)
    return false;
  const std::lock_guard load(Registry::instance().load);
  read(*binary);
  return !binary->blobs.kernels.empty();
}

bool hasKernel(void* handle, const std::string& name) {
  const auto binary = findBinary(handle);
  if (!binary)
    return false;
  const std::lock_guard load(Registry::instance().load);
  read(*binary);
  return binary->blobs.kernels.contains(name);
}

GlobalUse findUses(void* handle, const std::string& name) {
  GlobalUse use;
  const auto binary = findBinary(handle);
  if (!binary)
    return use;
  const std::lock_guard load(Registry::instance().load);
  read(*binary);
  for (const auto& [kernel, blob] : binary->blobs.kernels)
    for (const embed::KernelGlobal& global : blob->globals)
      if (global.name == name) {
        use.bytes = global.sizeBytes;
        use.kernels.push_back(kernel);
      }
  return use;
}

std::shared_ptr<GlobalStorage> findGlobal(const void* hostShadow, bool needsContents) {
  Registry& registry = Registry::instance();
  return withImages([&]() -> std::shared_ptr<GlobalStorage> {
    std::pair<std::shared_ptr<FatBinary>, std::string> place;
    {
      const std::shared_lock lock(registry.tables);
      const auto found = registry.shadows.find(hostShadow);
      if (found == registry.shadows.end())
        return nullptr;
      place = found->second;
    }
    const auto storage = place.first->globals.at(place.second);
    if (needsContents)
      initialise(place.first, *storage);
    return storage;
  });
}

} // namespace mneme::cpu_runtime
