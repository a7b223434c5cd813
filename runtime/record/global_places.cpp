#include "runtime/record/global_places.h"

#include <algorithm>
#include <utility>

namespace mneme::record {
namespace {

constexpr uint32_t kConstantGlobal = 1, kExternGlobal = 4; ///< mneme_global_entry::flags

/// What a unit registered, as long as it may be looked at: another thread may unload it.
struct Registered {
  const void* hostShadow;
  artifact::Region region; ///< without its address
};

struct Units {
  std::vector<const mneme_module_entry*> all;
  std::vector<Registered> globals;
};

void addUnit(void* user, const mneme_module_entry* unit) {
  auto& units = *static_cast<Units*>(user);
  units.all.push_back(unit);
  for (uint64_t i = 0; i < unit->globalCount; ++i) {
    const mneme_global_entry& global = unit->globals[i];
    if (!(global.flags & kExternGlobal) && global.sizeBytes > 0)
      units.globals.push_back(
          {global.hostShadow, variableRegion(global.name, nullptr, global.sizeBytes,
                                             (global.flags & kConstantGlobal) != 0)});
  }
}

std::vector<artifact::Region> placed(std::vector<Registered> globals, Backend& backend) {
  std::vector<artifact::Region> regions;
  for (Registered& global : globals) {
    global.region.address = reinterpret_cast<uint64_t>(backend.addressOf(global.hostShadow));
    if (global.region.address != 0)
      regions.push_back(std::move(global.region));
  }
  return regions;
}

} // namespace

artifact::Region variableRegion(std::string name, const void* address, uint64_t sizeBytes,
                                bool isConstant) {
  artifact::Region region;
  region.address = reinterpret_cast<uint64_t>(address);
  region.sizeBytes = sizeBytes;
  region.kind = artifact::RegionKind::Global;
  region.isConstant = isConstant;
  region.name = std::move(name);
  return region;
}

void GlobalPlaces::addHidden(std::vector<artifact::Region>& regions) const {
  for (const ModuleGlobal& global : catalog_.moduleGlobals())
    for (artifact::Region& found : backend_.variablesOf(global.kernel, {&global.name, 1})) {
      const auto isSame = [&](const artifact::Region& region) {
        return region.address == found.address;
      };
      found.isConstant = global.isConstant;
      if (std::ranges::none_of(regions, isSame))
        regions.push_back(std::move(found));
    }
}

const std::vector<artifact::Region>& GlobalPlaces::find(unsigned device) {
  Known& known = known_[device];
  if (auto all = backend_.allVariables()) // costs nothing, and they appear there as kernels do
    return known.regions = std::move(*all);
  const uint64_t losses = losses_;
  const size_t launched = catalog_.moduleCount();
  Units now;
  mneme_rt_visit_modules(addUnit, &now);
  if (known.units == now.all && known.launchedModules == launched && known.losses == losses)
    return known.regions;
  known = {std::move(now.all), launched, losses, placed(std::move(now.globals), backend_)};
  addHidden(known.regions);
  return known.regions;
}

} // namespace mneme::record
