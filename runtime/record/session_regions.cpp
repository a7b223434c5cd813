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

bool Session::isReadable(const artifact::Region& region, DeviceAccess& access) const {
  return region.kind == artifact::RegionKind::Global ||
         memory_->isServed(reinterpret_cast<const void*>(region.address)) || access.canRead(region);
}

/// What belongs to the launch whatever its pointers lead to.
std::vector<artifact::Region>
Session::certainRegions(const KernelInfo& info, const mneme_launch& launch, DeviceAccess& access) {
  auto regions = memory_->regions(static_cast<unsigned>(device_));
  std::erase_if(regions,
                [&](const artifact::Region& region) { return !isReadable(region, access); });
  addGlobals(info, launch.kernel, regions);

  if (!vendor_->isCpuDevice && settings_.usesWindow && memory_->hasForeign())
    note("some device memory did not fit into the address window of " +
         std::to_string(settings_.windowBytes >> 20) +
         " MiB and is recorded where the vendor placed it; a replay may not be granted these "
         "addresses: raise -vass");
  return regions;
}

/// Everything else that a kernel could see. A variable that has the name of one of the kernel's own
/// (in another library) must not take its place in a replay: it goes without a name.
Reach Session::reachOf(const KernelInfo& info, const mneme_launch& launch,
                       const std::vector<artifact::Region>& certain, DeviceAccess& access) {
  std::vector<uint64_t> words = wordArguments(*info.blob, launch);
  const std::vector<uint64_t> pointers = pointerArguments(*info.blob, launch);
  words.insert(words.end(), pointers.begin(), pointers.end());
  auto candidates = memory_->reachable(static_cast<unsigned>(device_), words);
  for (artifact::Region global : globals_->find(static_cast<unsigned>(device_))) {
    if (info.globalNames.contains(global.name))
      global.name.clear();
    candidates.push_back(std::move(global));
  }
  return Reach(
      std::move(candidates), certain, searches_,
      [this, &access](const artifact::Region& region) { return isReadable(region, access); });
}

/// What the arguments lead to; a word of an aggregate, or an integer, may be an address as well.
void Session::addArguments(const KernelInfo& info, const mneme_launch& launch, Reach& reach,
                           std::vector<artifact::Region>& regions) {
  const std::vector<uint64_t> pointers = pointerArguments(*info.blob, launch);
  for (const uint64_t word : wordArguments(*info.blob, launch))
    reach.lookAt(word);
  for (const uint64_t pointer : pointers)
    reach.lookAt(pointer);
  const std::vector<artifact::Region> found = reach.takeFound();
  regions.insert(regions.end(), found.begin(), found.end());
  for (const uint64_t pointer : pointers) {
    const auto isKnown = [&](const artifact::Region& region) { // the end counts, too
      return pointer >= region.address && pointer - region.address <= region.sizeBytes;
    };
    if (pointer != 0 && !info.knowsFunctions &&
        std::none_of(regions.begin(), regions.end(), isKnown))
      note("kernel '" + info.blob->demangled +
           "' was given a pointer to memory that no allocation function returned, such as pageable "
           "host memory: that memory is not recorded, and a replay may fail");
  }
}

} // namespace mneme::record
