// Which memory belongs to a launch: allocations, device variables, what its arguments reach.
#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/record/session.h"

namespace mneme::record {
namespace {

struct HiddenGlobals {
  const std::vector<std::string>* names;
  std::vector<artifact::Region>* regions;
};

void addHiddenGlobal(void* user, const char* name, void* address, size_t sizeBytes) {
  const auto* hidden = static_cast<HiddenGlobals*>(user);
  if (std::find(hidden->names->begin(), hidden->names->end(), name) == hidden->names->end())
    return;
  artifact::Region region;
  region.address = reinterpret_cast<uint64_t>(address);
  region.sizeBytes = sizeBytes;
  region.kind = artifact::RegionKind::Global;
  region.name = name;
  hidden->regions->push_back(region);
}

} // namespace

void Session::addHiddenGlobals(const KernelInfo& info, const void* kernel,
                               std::vector<artifact::Region>& regions) {
  HiddenGlobals hidden{&info.hiddenGlobals, &regions};
  if (vendor_->visitGlobals && !info.hiddenGlobals.empty())
    vendor_->visitGlobals(kernel, addHiddenGlobal, &hidden);
  if (!vendor_->findGlobal)
    return;
  for (const std::string& name : info.hiddenGlobals) {
    void* address = nullptr;
    size_t sizeBytes = 0;
    if (vendor_->findGlobal(kernel, name.c_str(), &address, &sizeBytes) == 0 && sizeBytes > 0)
      addHiddenGlobal(&hidden, name.c_str(), address, sizeBytes);
    else
      note("device variable '" + name + "' of kernel '" + info.blob->demangled +
           "' cannot be found: a replay starts it from its initial value");
  }
}

void Session::addGlobals(const KernelInfo& info, const void* kernel,
                         std::vector<artifact::Region>& regions) {
  addHiddenGlobals(info, kernel, regions);
  for (const GlobalPlace& global : info.globals) {
    void* address = nullptr;
    if (!vendor_->symbolAddress || vendor_->symbolAddress(&address, global.hostShadow) != 0 ||
        !address)
      throw Error(ErrorCode::DeviceFailed,
                  "the address of device variable '" + global.name + "' cannot be found");
    artifact::Region region;
    region.address = reinterpret_cast<uint64_t>(address);
    region.sizeBytes = global.sizeBytes;
    region.kind = artifact::RegionKind::Global;
    region.isConstant = global.isConstant;
    region.name = global.name;
    regions.push_back(region);
  }
}

/// The device variable of any instrumented unit that `pointer` points into: kernels reach variables
/// they do not name through pointers. Empty size if there is none.
artifact::Region Session::globalAt(uint64_t pointer) const {
  struct Search {
    const Vendor* vendor;
    uint64_t pointer;
    artifact::Region found;
  } search{vendor_, pointer, {}};
  if (!vendor_->symbolAddress)
    return search.found;
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry* module) {
        auto& wanted = *static_cast<Search*>(user);
        for (uint64_t i = 0; i < module->globalCount && wanted.found.sizeBytes == 0; ++i) {
          const mneme_global_entry& global = module->globals[i];
          void* place = nullptr;
          if (wanted.vendor->symbolAddress(&place, global.hostShadow) != 0 || !place)
            continue;
          const auto address = reinterpret_cast<uint64_t>(place);
          if (wanted.pointer < address || wanted.pointer - address >= global.sizeBytes)
            continue;
          wanted.found = {address,
                          global.sizeBytes,
                          artifact::RegionKind::Global,
                          (global.flags & 1) != 0,
                          global.name,
                          {}};
        }
      },
      &search);
  return search.found;
}

std::vector<artifact::Region> Session::regionsOf(const KernelInfo& info, const mneme_launch& launch,
                                                 DeviceAccess& access) {
  const std::vector<uint64_t> pointers = pointerArguments(*info.blob, launch);
  std::vector<uint64_t> reachable = aggregateWords(*info.blob, launch);
  reachable.insert(reachable.end(), pointers.begin(), pointers.end());
  auto regions = memory_->regions(static_cast<unsigned>(device_), reachable);
  std::erase_if(regions, [&](const artifact::Region& region) {
    return !memory_->isServed(reinterpret_cast<const void*>(region.address)) &&
           !access.canRead(region);
  });
  addGlobals(info, launch.kernel, regions);
  for (const uint64_t pointer : pointers) {
    const auto isInside = [&](const artifact::Region& region) {
      return pointer >= region.address && pointer - region.address < region.sizeBytes;
    };
    const auto isEnd = [&](const artifact::Region& region) {
      return pointer == region.address + region.sizeBytes;
    };
    if (pointer == 0 || std::any_of(regions.begin(), regions.end(), isInside))
      continue;
    if (const artifact::Region global = globalAt(pointer); global.sizeBytes != 0)
      regions.push_back(global);
    else if (std::none_of(regions.begin(), regions.end(), isEnd))
      note("kernel '" + info.blob->demangled +
           "' was given a pointer to memory that is not known here; its replay may fail");
  }
  if (!vendor_->isCpuDevice && settings_.usesWindow && memory_->hasForeign())
    note("some device memory did not fit into the address window of " +
         std::to_string(settings_.windowBytes >> 20) +
         " MiB and is recorded where the vendor placed it; a replay may not be granted these "
         "addresses: raise -vass");
  return regions;
}

} // namespace mneme::record
