#include "runtime/recorder/global_places.h"

#include <unordered_set>
#include <utility>

namespace mneme::record {
namespace {

/// A copy of what a unit registered for a variable. Units may only be read during the visit:
/// another thread may unload them.
struct Registered {
  const void* hostShadow;
  artifact::Region region; ///< without its address
};

/// The units that are loaded now.
struct Units {
  std::vector<const mneme_module_entry*> all; ///< compared, never read
  std::vector<Registered> globals;            ///< variables that these units define
};

/// Adds a unit to the Units at `user`.
void addUnit(void* user, const mneme_module_entry* unit) {
  auto& units = *static_cast<Units*>(user);
  units.all.push_back(unit);
  for (uint64_t i = 0; i < unit->globalCount; ++i) {
    const mneme_global_entry& global = unit->globals[i];
    if (!(global.flags & MNEME_GLOBAL_EXTERN) && global.sizeBytes > 0)
      units.globals.push_back(
          {global.hostShadow, variableRegion(global.name, nullptr, global.sizeBytes,
                                             (global.flags & MNEME_GLOBAL_CONSTANT) != 0)});
  }
}

/// Asks the runtime for the addresses of variables, and leaves out those that have none yet.
std::vector<artifact::Region> withAddresses(std::vector<Registered> globals, Backend& backend) {
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

void GlobalPlaces::addHidden(const WorkPlace& place, std::vector<artifact::Region>& regions) const {
  std::unordered_set<uint64_t> known;
  for (const artifact::Region& region : regions)
    known.insert(region.address);
  for (const ModuleGlobal& global : catalog_.moduleGlobals()) {
    const KernelPlace& kernel = global.kernel;
    if (kernel.loadedModule && !kernel.isOfLibrary && kernel.context != place.context)
      continue; // the module of another context
    for (artifact::Region& found : backend_.variablesOf(global.kernel, {&global.name, 1})) {
      found.isConstant = global.isConstant;
      if (known.insert(found.address).second)
        regions.push_back(std::move(found));
    }
  }
}

const std::vector<artifact::Region>& GlobalPlaces::find(const WorkPlace& place) {
  Known& known = known_[place];
  // Our own runtime knows all variables at no cost.
  if (auto all = backend_.allVariables())
    return known.regions = std::move(*all);
  const uint64_t losses = losses_; // before the visit: a later loss makes the next call ask again
  const size_t launched = catalog_.moduleCount();
  Units now;
  mneme_rt_visit_modules(addUnit, &now);
  if (known.units == now.all && known.launchedModules == launched && known.losses == losses)
    return known.regions;
  known = {std::move(now.all), launched, losses, withAddresses(std::move(now.globals), backend_)};
  addHidden(place, known.regions);
  return known.regions;
}

} // namespace mneme::record
