#include "runtime/record/global_places.h"

#include <algorithm>
#include <utility>

namespace mneme::record {
namespace {

constexpr uint32_t kConstantGlobal = 1, kExternGlobal = 4; ///< mneme_global_entry::flags

artifact::Region regionOf(const char* name, const void* address, uint64_t sizeBytes,
                          bool isConstant) {
  artifact::Region region;
  region.address = reinterpret_cast<uint64_t>(address);
  region.sizeBytes = sizeBytes;
  region.kind = artifact::RegionKind::Global;
  region.isConstant = isConstant;
  region.name = name;
  return region;
}

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
      units.globals.push_back({global.hostShadow, regionOf(global.name, nullptr, global.sizeBytes,
                                                           (global.flags & kConstantGlobal) != 0)});
  }
}

std::vector<artifact::Region> placed(std::vector<Registered> globals, const Vendor& vendor) {
  std::vector<artifact::Region> regions;
  for (Registered& global : globals) {
    void* address = nullptr;
    if (!vendor.symbolAddress || vendor.symbolAddress(&address, global.hostShadow) != 0 || !address)
      continue;
    global.region.address = reinterpret_cast<uint64_t>(address);
    regions.push_back(std::move(global.region));
  }
  return regions;
}

} // namespace

void GlobalPlaces::addHidden(std::vector<artifact::Region>& regions) const {
  if (!vendor_.findGlobal)
    return;
  for (const ModuleGlobal& global : catalog_.moduleGlobals()) {
    void* address = nullptr;
    size_t sizeBytes = 0;
    if (vendor_.findGlobal(global.kernel, global.name.c_str(), &address, &sizeBytes) != 0 ||
        sizeBytes == 0)
      continue;
    const auto isSame = [&](const artifact::Region& region) {
      return region.address == reinterpret_cast<uint64_t>(address);
    };
    if (std::none_of(regions.begin(), regions.end(), isSame))
      regions.push_back(regionOf(global.name.c_str(), address, sizeBytes, global.isConstant));
  }
}

const std::vector<artifact::Region>& GlobalPlaces::find(unsigned device) {
  Known& known = known_[device];
  if (vendor_.visitAllGlobals) { // costs nothing, and variables appear there as kernels do
    known.regions.clear();
    vendor_.visitAllGlobals(
        [](void* user, const char* name, void* address, size_t sizeBytes) {
          static_cast<std::vector<artifact::Region>*>(user)->push_back(
              regionOf(name, address, sizeBytes, false));
        },
        &known.regions);
    return known.regions;
  }
  const uint64_t losses = losses_;
  const size_t launched = catalog_.moduleCount();
  Units now;
  mneme_rt_visit_modules(addUnit, &now);
  if (known.units == now.all && known.launchedModules == launched && known.losses == losses)
    return known.regions;
  known = {std::move(now.all), launched, losses, placed(std::move(now.globals), vendor_)};
  addHidden(known.regions);
  return known.regions;
}

} // namespace mneme::record
