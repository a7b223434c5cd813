#include "runtime/jit/kernel_code.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/core/base/error.h"

namespace mneme::jit {
namespace {

constexpr size_t kMaxFatbins = 256;

} // namespace

std::string buildOptionsOf(const embed::KernelBlob& blob) {
  const auto metadata = nlohmann::json::parse(blob.metadataJson, nullptr, false);
  return metadata.is_object() && metadata.contains("options") ? metadata["options"].dump() : "";
}

std::string pipelineOf(const std::string& optionsJson) {
  const auto options = nlohmann::json::parse(optionsJson, nullptr, false);
  const std::string level = options.is_object() ? options.value("opt_level", "") : "";
  return "default<O" + (level.empty() ? "3" : level) + ">";
}

std::vector<embed::KernelGlobal> globalsOf(const KernelCode& code) {
  std::vector<embed::KernelGlobal> globals;
  for (const auto& module : code.modules)
    for (const embed::KernelGlobal& global : module->globals) {
      const auto known = std::ranges::find(globals, global.name, &embed::KernelGlobal::name);
      if (known == globals.end())
        globals.push_back(global);
      else if (global.isDefined && !known->isDefined)
        *known = global;
    }
  return globals;
}

void CodeReader::forget(const mneme_module_entry* module) {
  const std::lock_guard lock(mutex_);
  units_.erase(module);
}

std::shared_ptr<const embed::BlobSet> CodeReader::unit(const mneme_module_entry* module) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = units_.find(module); known != units_.end())
      return known->second;
  }
  std::vector<const void*> fatbins(kMaxFatbins);
  fatbins.resize(std::min(mneme_rt_fatbins(module, fatbins.data(), fatbins.size()), kMaxFatbins));
  auto all = std::make_shared<embed::BlobSet>();
  for (const void* fatbin : fatbins)
    embed::add(*all, embed::readFatBinary(fatbin));
  std::erase_if(all->kernels,
                [&](const auto& item) { return !isWanted_(*item.second) && !item.second->marks; });
  const std::lock_guard lock(mutex_);
  return units_[module] = std::move(all);
}

void CodeReader::visit(const mneme_module_entry* module) noexcept {
  try {
    unit(module);
  } catch (const std::exception&) { // a launch reports it
  }
}

KernelCode CodeReader::read(const void* handle, const mneme_module_entry* module,
                            const char* name) {
  std::optional<KernelCode> code = find(handle, module, name);
  if (!code)
    throw Error(
        ErrorCode::NotFound,
        "it carries no mneme IR; build it with add_mneme() (whose KERNELS, if given, match it)");
  return std::move(*code);
}

std::optional<KernelCode> CodeReader::find(const void* handle, const mneme_module_entry* module,
                                           const char* name) {
  const std::shared_ptr<const embed::BlobSet> blobs = unit(module);
  const auto blob = blobs->kernels.find(name);
  if (blob == blobs->kernels.end())
    return std::nullopt;
  return KernelCode{.handle = handle,
                    .module = module,
                    .name = name,
                    .blob = blob->second,
                    .modules = embed::modulesFor(*blobs, name),
                    .optionsJson = buildOptionsOf(*blob->second)};
}

} // namespace mneme::jit
