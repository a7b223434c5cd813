#include "runtime/recorder/kernel_catalog.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/core/abi/read_words.h"
#include "runtime/core/artifact/launch_identity.h"
#include "runtime/core/artifact/recorded_reads.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/recorder/compiler_cache.h"
#include "runtime/recorder/metadata_options.h"

namespace mneme::record {
namespace {

constexpr size_t kMaxFatbins = 256;

struct GlobalSearch {
  std::string name;
  const mneme_module_entry* preferred = nullptr;
  const mneme_global_entry* found = nullptr;
};

void searchModule(void* user, const mneme_module_entry* module) {
  auto& search = *static_cast<GlobalSearch*>(user);
  for (uint64_t index = 0; index < module->globalCount; ++index) {
    const mneme_global_entry& entry = module->globals[index];
    const bool isBetter = !search.found || module == search.preferred;
    if (isBetter && !(entry.flags & MNEME_GLOBAL_EXTERN) && search.name == entry.name)
      search.found = &entry;
  }
}

/// Code that the program loaded itself has no shadows in host code; the program writes its
/// constants by name.
void findGlobal(KernelInfo& info, const embed::KernelGlobal& global) {
  info.knowsFunctions |= global.holdsFunctions;
  if (!info.globalNames.insert(global.name).second)
    return;
  const HiddenGlobal hidden{global.name, global.isConstant && !global.holdsFunctions};
  if (info.loadedModule)
    return info.hiddenGlobals.push_back(hidden);
  GlobalSearch search{global.name, info.module, nullptr};
  mneme_rt_visit_modules(searchModule, &search);
  if (search.found)
    info.globals.push_back({global.name, search.found->hostShadow,
                            search.found->sizeBytes ? search.found->sizeBytes : global.sizeBytes,
                            global.isConstant});
  else if (!hidden.isConstant)
    info.hiddenGlobals.push_back(hidden);
}

/// Code of other units that is linked with the kernel's may use any of their variables, and objects
/// any of their tables of functions: nothing says which without a compiler.
void findGlobals(KernelInfo& info) {
  for (const auto& module : info.modules)
    for (const auto* globals : {&module->globals, &module->tables})
      for (const embed::KernelGlobal& global : *globals)
        findGlobal(info, global);
  if (info.blob->image)
    for (const embed::KernelGlobal& global : info.blob->globals)
      findGlobal(info, global);
}

} // namespace

std::shared_ptr<const embed::BlobSet> KernelCatalog::blobsOf(const mneme_module_entry* module) {
  if (const auto known = blobs_.find(module); known != blobs_.end())
    return known->second;
  std::vector<const void*> fatbins(kMaxFatbins);
  fatbins.resize(std::min(mneme_rt_fatbins(module, fatbins.data(), fatbins.size()), kMaxFatbins));
  auto all = std::make_shared<embed::BlobSet>();
  for (const void* fatbin : fatbins)
    embed::add(*all, embed::readFatBinary(fatbin));
  return blobs_[module] = all;
}

/// Sets where the kernel's code is; its name, or nothing for a handle that is not known.
std::string KernelCatalog::findCode(const void* handle, KernelInfo& info) {
  const char* name = nullptr;
  if (mneme_rt_find_kernel(handle, &info.module, &name))
    return name;
  const auto loaded = loaded_.find(handle);
  if (!loaded)
    return "";
  info.module = &loaded->module->unit;
  info.loadedModule = loaded->module->handle;
  info.context = loaded->module->context;
  info.isOfLibrary = loaded->module->isLibrary;
  info.isBuiltIn = loaded->module->isBuiltIn;
  info.isOfVendor = loaded->module->isOfVendor;
  blobs_[info.module] = loaded->module->content().blobs;
  return loaded->name;
}

/// Null if it is not code that the program loaded itself, or what it takes is not known.
std::shared_ptr<const embed::KernelBlob> KernelCatalog::blobWithoutIr(const void* handle) {
  const auto loaded = loaded_.find(handle);
  if (!loaded || !loaded->module->content().image.bytes)
    return nullptr;
  const embed::CodeImage& image = loaded->module->content().image;
  const auto known = codes_.find(&loaded->module->unit);
  const embed::DeviceCode& code = known != codes_.end()
                                      ? known->second
                                      : codes_[&loaded->module->unit] =
                                            embed::readCode(image, backend_.architecture());
  const embed::DeviceKernel* kernel = code.find(loaded->name);
  const auto parameters =
      kernel && kernel->parameters ? kernel->parameters : backend_.parametersOf(handle);
  return parameters ? std::make_shared<const embed::KernelBlob>(
                          embed::withoutIr(image, code, loaded->name, *parameters))
                    : nullptr;
}

std::shared_ptr<const KernelInfo> KernelCatalog::read(const void* handle) {
  auto info = std::make_shared<KernelInfo>();
  const std::string name = findCode(handle, *info);
  if (name.empty())
    return nullptr;
  try {
    const auto blobs = blobsOf(info->module);
    const auto blob = blobs->kernels.find(name);
    const auto code = blob == blobs->kernels.end() ? blobWithoutIr(handle) : blob->second;
    if (!code) {
      info->isWanted = settings_.wants(name, name);
      info->whyNot =
          "kernel '" + name +
          "' carries no mneme IR; build it with add_mneme() (whose KERNELS, if given, match it)";
      return info;
    }
    info->blob = code;
    info->isWanted = settings_.wants(name, info->blob->demangled, info->blob->place);
    info->modules = embed::modulesFor(*blobs, name);
    info->architectures = blobs->architectures;
    info->usesHeap = unrecordedReads(*info, "").contains(std::string(read_words::kHeap));
    findGlobals(*info);
  } catch (const Error& error) {
    info->isWanted = settings_.wants(name, name);
    info->whyNot = "the IR of kernel '" + name + "' cannot be read: " + error.what();
    return info;
  }
  auto& state = states_[info->blob->staticHash];
  if (!state)
    state = std::make_shared<KernelState>();
  info->state = state;
  return info;
}

std::shared_ptr<const KernelInfo> KernelCatalog::find(const void* handle) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = infos_.find(handle); known != infos_.end())
      return known->second;
  }
  const std::unique_lock lock(mutex_);
  if (const auto known = infos_.find(handle); known != infos_.end())
    return known->second;
  std::shared_ptr<const KernelInfo>& info = infos_[handle] = read(handle);
  if (info)
    keepName(*info);
  return info;
}

std::vector<ModuleGlobal> KernelCatalog::moduleGlobals() const {
  const std::shared_lock lock(mutex_);
  std::set<const mneme_module_entry*> seen;
  std::vector<ModuleGlobal> globals;
  for (const auto& [handle, info] : infos_) {
    if (!info || !info->blob || !seen.insert(info->module).second)
      continue;
    const embed::BlobSet& blobs = *blobs_.at(info->module);
    std::map<std::string, const embed::KernelGlobal*> named;
    for (const auto& [name, kernel] : blobs.kernels)
      for (const embed::KernelGlobal& global : kernel->globals)
        named.emplace(global.name, &global);
    for (const auto& module : blobs.modules)
      for (const embed::KernelGlobal& global : module->globals)
        named.emplace(global.name, &global);
    if (info->blob->image) // has those of its whole image
      for (const embed::KernelGlobal& global : info->blob->globals)
        named.emplace(global.name, &global);
    for (const auto& [name, global] : named)
      globals.push_back({info->placeOf(handle), name, global->sizeBytes, global->isConstant});
  }
  return globals;
}

/// Units may be unregistered before the process ends: names are kept when kernels are met.
void KernelCatalog::keepName(const KernelInfo& info) {
  hasWanted_ |= info.isWanted;
  if (info.blob)
    names_.insert(info.blob->shownName());
}

std::set<std::string> KernelCatalog::allUnwanted() const {
  const std::shared_lock lock(mutex_);
  return hasWanted_ ? std::set<std::string>() : names_;
}

size_t KernelCatalog::moduleCount() const {
  const std::shared_lock lock(mutex_);
  return blobs_.size();
}

void KernelCatalog::forget(const mneme_module_entry* module) {
  const std::unique_lock lock(mutex_);
  std::erase_if(infos_,
                [&](const auto& item) { return !item.second || item.second->module == module; });
  blobs_.erase(module);
  codes_.erase(module);
}

void KernelCatalog::forgetHandle(const void* handle) {
  const std::unique_lock lock(mutex_);
  infos_.erase(handle);
}

void KernelCatalog::visitStates(
    const std::function<void(uint64_t staticHash, KernelState&)>& visit) {
  const std::shared_lock lock(mutex_);
  for (const auto& [hash, state] : states_)
    visit(hash, *state);
}

/// Names stand in bitcode as they are, one behind the other.
bool refersTo(const KernelInfo& info, std::span<const char* const> names) {
  return std::ranges::any_of(info.modules, [&](const auto& module) {
    const std::string_view code(reinterpret_cast<const char*>(module->bitcode.data()),
                                module->bitcode.size());
    return std::ranges::any_of(
        names, [&](const char* name) { return code.find(name) != std::string_view::npos; });
  });
}

bool setsConditions(const KernelInfo& info, std::span<const char* const> setters) {
  if (info.blob->image && !info.blob->isCodeRead)
    return true;
  return refersTo(info, setters) || unrecordedReads(info, {}).contains(read_words::kConditions);
}

uint64_t dynamicHash(const embed::KernelBlob& blob, const mneme_launch& launch,
                     const LaunchTraits& traits, const std::function<bool(uint64_t)>& isAddress) {
  const auto dims = [](const mneme_dim3& value) {
    return artifact::Dim3{value.x, value.y, value.z};
  };
  std::vector<std::byte> masked;
  return artifact::launchIdentity(
      dims(launch.grid), dims(launch.block), dims(traits.cluster), launch.sharedBytes,
      traits.isCooperative, blob.args, [&](size_t index, uint64_t offset, uint64_t sizeBytes) {
        const auto bytes = argBytes(launch.args, index, offset + sizeBytes).subspan(offset);
        return blob.image && isAddress ? artifact::withoutAddresses(bytes, isAddress, masked)
                                       : bytes;
      });
}

std::vector<std::vector<std::byte>> argumentValues(const embed::KernelBlob& blob,
                                                   const mneme_launch& launch) {
  std::vector<std::vector<std::byte>> values;
  for (size_t index = 0; index < blob.args.size(); ++index) {
    const auto bytes = argBytes(launch.args, index, blob.args[index].sizeBytes);
    values.emplace_back(bytes.begin(), bytes.end());
  }
  return values;
}

std::vector<uint64_t> pointerArguments(const embed::KernelBlob& blob, const mneme_launch& launch) {
  std::vector<uint64_t> pointers;
  for (size_t index = 0; index < blob.args.size(); ++index)
    if (blob.args[index].kind == ArgKind::Pointer) {
      uint64_t value = 0;
      std::memcpy(&value, launch.args[index],
                  std::min<size_t>(sizeof(value), blob.args[index].sizeBytes));
      pointers.push_back(value);
    }
  return pointers;
}

std::vector<uint64_t> wordArguments(const embed::KernelBlob& blob, const mneme_launch& launch) {
  std::vector<uint64_t> words;
  for (size_t index = 0; index < blob.args.size(); ++index) {
    const ArgKind kind = blob.args[index].kind;
    if (kind != ArgKind::Aggregate && kind != ArgKind::Integer && kind != ArgKind::Unknown)
      continue;
    const auto* bytes = static_cast<const std::byte*>(launch.args[index]);
    for (size_t at = 0; at + sizeof(uint64_t) <= blob.args[index].sizeBytes; at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + at, sizeof(word));
      words.push_back(word);
    }
  }
  return words;
}

std::set<std::string> unrecordedReads(const KernelInfo& info, const std::string& device) {
  std::set<std::string> reads;
  const auto add = [&](const embed::KernelBlob& blob) {
    for (std::string& read : unrecordedReadsOf(blob.metadataJson))
      if (device != "cpu" || !artifact::isRecordedOnCpu(read))
        reads.insert(std::move(read));
  };
  add(*info.blob);
  for (const auto& module : info.modules)
    add(*module);
  return reads;
}

std::string warningOfReads(const KernelInfo& info, const std::string& device, bool isLaunchAsked) {
  const std::string kernel = "kernel '" + info.blob->shownName() + "' ";
  std::string list, launches;
  for (const std::string& read : unrecordedReads(info, device))
    if (read == read_words::kLaunches)
      launches = kernel + "launches kernels itself: its replays may differ, or fail";
    else if (!isLaunchAsked || !artifact::isOfTextures(read))
      list += (list.empty() ? "" : ", ") + read;
  if (list.empty())
    return launches;
  return kernel + "reads what a recording does not hold (" + list + "): its replays may differ" +
         (launches.empty() ? "" : "; " + launches);
}

std::vector<std::vector<std::byte>> recordedCode(const KernelInfo& info) {
  if (info.blob->image)
    return {*info.blob->image};
  std::vector<std::vector<std::byte>> modules;
  for (const auto& module : info.modules)
    modules.push_back(module->bitcode);
  return modules;
}

artifact::KernelRecord describeKernel(const KernelInfo& info, const std::string& device) {
  artifact::KernelRecord record;
  record.staticHash = info.blob->staticHash;
  record.codeHash = info.blob->codeHash;
  record.kernelName = info.blob->kernel;
  record.demangledName = info.blob->demangled;
  record.place = info.blob->place;
  record.arch = info.blob->arch;
  record.device = device;
  record.args = info.blob->args;
  record.codeForm = info.blob->imageForm;
  record.optionsJson =
      withUnrecordedReads(optionsOf(info.blob->metadataJson), unrecordedReads(info, device));
  return record;
}

void addCompilersCode(const KernelInfo& info, artifact::KernelRecord& record,
                      std::vector<std::vector<std::byte>>& code) {
  const embed::KernelBlob& blob = *info.blob;
  if (blob.imageForm != "cubin" && blob.imageForm != embed::kCpuForm)
    return;
  std::optional<CachedCode> found =
      apart([&] { return findCachedCode(compilerCaches(), blob.kernel, *blob.image, blob.args); });
  if (!found)
    return;
  record.images = {{.form = blob.imageForm, .file = {}, .hash = {}, .content = blob.image},
                   {.form = "ptx", .file = {}, .hash = {}, .content = found->ptx}};
  record.codeForm.clear();
  record.args = std::move(found->args);
  if (found->arch.starts_with(record.arch)) // machine code does not tell its variant
    record.arch = found->arch;
  record.optionsJson = withUnrecordedReads(optionsOfTriton(found->producer, found->ptxVersion),
                                           unrecordedReads(info, record.device));
  code = {std::move(found->ir)};
}

} // namespace mneme::record
