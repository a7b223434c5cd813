#include "runtime/replay/build.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "runtime/compiler/service/pass_plugin_files.h"
#include "runtime/compiler/service/service.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/packing.h"
#include "runtime/replay/code_without_ir.h"

namespace mneme::replay {

namespace {

constexpr size_t kRememberedBuilds = 16;
constexpr size_t kRememberedModules = 8;

template <typename List> auto findRecent(List& list, const Hash128& key) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.key == key; });
  if (found != list.end())
    list.splice(list.begin(), list, found);
  return found;
}

template <typename List, typename Entry> void remember(List& list, Entry entry, size_t limit) {
  list.push_front(std::move(entry));
  if (list.size() > limit)
    list.pop_back();
}

} // namespace

CodeTarget codeTargetOf(const device::Device& device, const MemoryImage& image) {
  CodeTarget target{.name = device.description().target};
  if (!device.placesGlobalsOnLoad())
    target.placedGlobals = image.placements();
  return target;
}

device::Description limitsOf(const device::Device& device, const artifact::KernelRecord& record) {
  return device.descriptionFor(record.arch);
}

device::LaunchShape launchShape(const artifact::Instance& instance, const Configuration& c) {
  return {.grid = {c.grid.x, c.grid.y, c.grid.z},
          .block = {c.block.x, c.block.y, c.block.z},
          .dynamicSharedBytes = c.sharedBytes,
          .cluster = {instance.cluster.x, instance.cluster.y, instance.cluster.z},
          .isCooperative = instance.isCooperative,
          .sharedCarveout = c.sharedCarveout != 0 ? c.sharedCarveout : instance.sharedCarveout,
          // Which of both counts, no driver promises: that which is asked for is alone.
          .cacheConfig = c.sharedCarveout != 0 ? CacheConfig::None : instance.cacheConfig};
}

compile::Request makeRequest(const artifact::KernelRecord& record,
                             const std::vector<std::vector<std::byte>>& modules,
                             const std::vector<std::vector<std::byte>>& values,
                             const CodeTarget& target, const Configuration& c,
                             const Options& options) {
  const artifact::Dim3 &grid = c.grid, &block = c.block;
  if (isOwnCode(c))
    throw Error(ErrorCode::Unsupported, "kernel '" + record.demangledName + "': '--llvm " + c.llvm +
                                            "' is code that nothing compiles");
  compile::KernelSource source{record.kernelName, modules, record.optionsJson};
  if (!options.ir.empty())
    source.modules = {options.ir};
  compile::Request request =
      compile::toRequest(std::move(source), c, {grid.x, grid.y, grid.z},
                         {block.x, block.y, block.z}, architectureOn(target.name, record.arch));
  for (const device::GlobalPlacement& global : target.placedGlobals)
    request.placedGlobals.push_back({global.name, global.address});
  request.wantIr = options.wantIr;
  request.wantAssembly = options.wantAssembly;
  for (const ArgPath& path : compile::constantArgs(c, record.args)) {
    if (path.index >= values.size())
      continue;
    std::vector<std::byte> value = values[path.index];
    if (path.offset) {
      const ArgPlace place = placeOf(path, record.args);
      if (value.size() < place.offset + place.sizeBytes)
        continue;
      value = {value.begin() + place.offset, value.begin() + place.offset + place.sizeBytes};
    }
    request.specializedArgs.push_back(
        {.index = path.index, .bytes = std::move(value), .offset = path.offset});
  }
  return request;
}

Hash128 keyOf(const Configuration& configuration, const Options& options) {
  Packer packer;
  for (const artifact::Dim3& dims : {configuration.grid, configuration.block})
    for (const uint32_t extent : {dims.x, dims.y, dims.z})
      packer.add(uint64_t{extent});
  packer.add(configuration.sharedBytes);
  const auto add = [&](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
      packer.add(bytesOf(value));
    else
      packer.add(uint64_t{value});
  };
#define MNEME_KNOB(type, member, key, otherwise, high, deployed) add(configuration.member);
#include "runtime/core/abi/knobs.def"
  for (const compile::PassPlugin& plugin : compile::passPluginsIn(configuration.passPlugins))
    packer.add(plugin.contentHash); // the text need not tell it
  add(options.wantIr);
  add(options.wantAssembly);
  const Hash128 ir = hash128(options.ir);
  packer.add(ir.low);
  packer.add(ir.high);
  return hash128(packer.packed());
}

namespace {

// A spilled vector register of an AMD GPU, of each thread.
constexpr uint64_t kVectorRegisterBytes = 4;

uint64_t spilledBytes(const nlohmann::json& statistics) {
  const auto number = [&](const char* key) {
    const auto found = statistics.find(key);
    return found != statistics.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  return number("spill_store_bytes") + number("spill_load_bytes") +
         kVectorRegisterBytes * number("vgpr_spill_count");
}

} // namespace

void readStatistics(const std::string& statisticsJson, Result& result) {
  const nlohmann::json json = nlohmann::json::parse(statisticsJson, nullptr, false);
  if (!json.is_object())
    return;
  const auto number = [&](const char* key, auto& target) {
    if (const auto found = json.find(key); found != json.end() && found->is_number())
      target = found->template get<std::decay_t<decltype(target)>>();
  };
  const auto text = [&](const char* key, std::string& target) {
    if (const auto found = json.find(key); found != json.end() && found->is_string())
      target = found->get<std::string>();
  };
  number("preprocess_ir_time", result.preprocessIrSeconds);
  number("opt_time", result.optSeconds);
  number("codegen_time", result.codegenSeconds);
  number("obj_size", result.objectBytes);
  number("reg_usage", result.registers);
  number("local_mem_usage", result.localBytes);
  number("const_mem_usage", result.constBytes);
  if (result.registers) // else nothing is known of registers
    result.spillBytes = spilledBytes(json);
  text("ir_hash", result.irHash);
  text("image_hash", result.imageHash);
  const auto texts = [&](const char* key, std::vector<std::string>& target) {
    if (const auto found = json.find(key); found != json.end() && found->is_array())
      for (const nlohmann::json& entry : *found)
        if (entry.is_string())
          target.push_back(entry.get<std::string>());
  };
  texts("refused_options", result.refusedOptions);
  texts("unrecorded_reads", result.unrecordedReads);
}

std::shared_ptr<const compile::Result>
ModuleCache::build(const artifact::KernelRecord& record,
                   const std::vector<std::vector<std::byte>>& modules,
                   const Configuration& configuration, const Options& options,
                   const std::function<compile::Request()>& makeRequest) {
  if (const std::optional<OwnCode> own = ownCode(record, modules, configuration))
    return std::make_shared<const compile::Result>(
        recordedBuild(*own, device_.description(), configuration, options));
  const Hash128 key = keyOf(configuration, options);
  if (const auto found = findRecent(builds_, key); options.useCache && found != builds_.end())
    return found->value;
  const compile::Request request = makeRequest();
  std::shared_ptr<const compile::Result> built;
  try {
    built = std::make_shared<const compile::Result>(
        compile::compileForReplay(request, options.useCache));
  } catch (const Error& error) {
    if (record.images.empty())
      throw;
    throw Error(error.code(),
                std::string(error.what()) +
                    "; its code needs no IR: '--llvm recorded' runs it as its program "
                    "did, '--llvm ptx' assembles its PTX");
  }
  remember(builds_, Entry<const compile::Result>{key, built}, kRememberedBuilds);
  return built;
}

std::shared_ptr<device::Module> ModuleCache::load(const std::vector<std::byte>& image) {
  const Hash128 key = hash128(image);
  if (const auto found = findRecent(modules_, key); found != modules_.end()) {
    adoptGlobals(*found->value);
    return found->value;
  }
  std::shared_ptr<device::Module> module = loadFresh(image);
  adoptGlobals(*module);
  if (isStateless(*module))
    remember(modules_, Entry<device::Module>{key, module}, kRememberedModules);
  return module;
}

std::shared_ptr<device::Module> ModuleCache::loadFresh(const std::vector<std::byte>& image) {
  try {
    return device_.load(image, kernel_, image_.placements());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::AddressUnavailable)
      throw;
  }
  // A device that cannot place globals: they live where the module has them.
  return device_.load(image, kernel_, {});
}

/// True when a second launch of the module sees nothing of the first but restored memory.
bool ModuleCache::isStateless(const device::Module& module) const {
  const std::vector<device::GlobalPlacement> placed = image_.placements();
  const std::vector<device::ModuleGlobal> globals = module.globals();
  return std::all_of(globals.begin(), globals.end(), [&](const device::ModuleGlobal& global) {
    return global.isConstant ||
           std::any_of(placed.begin(), placed.end(),
                       [&](const auto& placement) { return placement.name == global.name; });
  });
}

void ModuleCache::adoptGlobals(const device::Module& module) {
  const std::vector<device::ModuleGlobal> globals = module.globals();
  for (size_t i = 0; i < image_.sites().size(); ++i) {
    const Site& site = image_.sites()[i];
    if (!site.isGlobal())
      continue;
    const auto global = std::find_if(globals.begin(), globals.end(), [&](const auto& candidate) {
      return candidate.name == site.region.name;
    });
    if (global != globals.end() && global->sizeBytes != site.region.sizeBytes)
      throw Error(ErrorCode::InvalidArgument,
                  "global '" + global->name + "' has " + std::to_string(global->sizeBytes) +
                      " bytes in the IR but " + std::to_string(site.region.sizeBytes) +
                      " were recorded");
    image_.moveGlobal(i, global != globals.end() ? global->address : site.home);
  }
  image_.checkPointersToMovedGlobals();
}

} // namespace mneme::replay
