#include "runtime/recorder/device_memory.h"

#include <algorithm>
#include <mutex>

namespace mneme::record {
namespace {

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// What drivers take from a device at once: small allocations share such a block, large ones have
/// some of their own.
constexpr uint64_t kVendorBlockBytes = 2ull << 20;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

bool isHostKind(artifact::RegionKind kind) { return kind == artifact::RegionKind::HostPinned; }

/// Whether an allocation belongs to every launch at `place`.
bool isCertain(const Allocation& allocation, const WorkPlace& place) {
  if (isHostKind(allocation.kind))
    return allocation.owner == Owner::Window;
  return allocation.kind != artifact::RegionKind::Allocation ||
         (allocation.device == place.device && allocation.context == place.context);
}

} // namespace

Memory::Memory(Options options) : options_(std::move(options)) {}

WindowAllocator* Memory::existingWindow(unsigned device) const {
  const auto found = places_.find(device);
  return found == places_.end() || !found->second.window || found->second.window->base() == 0
             ? nullptr
             : found->second.window.get();
}

WindowAllocator* Memory::windowOf(unsigned device) {
  if (const auto known = places_.find(device); known != places_.end())
    return existingWindow(device);
  Place& place = places_[device];
  place.backend = options_.makeBackend ? options_.makeBackend(device) : nullptr;
  if (!place.backend)
    return nullptr;
  place.window = std::make_unique<WindowAllocator>(*place.backend, device, options_.windowBytes);
  if (place.window->base() == 0) {
    isWindowRefused_ = true;
    return nullptr;
  }
  for (const auto& [owner, user] : sharing_)
    if (owner == device)
      place.window->share(user);
  // Copies between devices work on the vendor's memory without further ado: let them here, too.
  for (const auto& [other, otherPlace] : places_)
    if (WindowAllocator* window = existingWindow(other); window && other != device) {
      window->share(device);
      place.window->share(other);
    }
  return place.window.get();
}

void* Memory::allocate(uint64_t sizeBytes, artifact::RegionKind kind, unsigned device, void* pool) {
  const std::unique_lock lock(mutex_);
  hasSeenAllocations_ = true;
  WindowAllocator* window = sizeBytes ? windowOf(device) : nullptr;
  const uint64_t address = window ? window->allocate(sizeBytes) : 0;
  if (address != 0)
    live_[address] = {.address = address,
                      .sizeBytes = sizeBytes,
                      .kind = kind,
                      .device = device,
                      .annotation = {},
                      .pool = pool};
  return reinterpret_cast<void*>(address);
}

std::optional<Allocation> Memory::findExact(const void* pointer) const {
  const std::shared_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  return found == live_.end() || found->second.owner == Owner::Vendor
             ? std::nullopt
             : std::optional(found->second);
}

std::optional<Allocation> Memory::findServed(const void* inside) const {
  const std::shared_lock lock(mutex_);
  const auto next = live_.upper_bound(addressOf(inside));
  if (next == live_.begin())
    return std::nullopt;
  const Allocation& before = std::prev(next)->second;
  return before.owner == Owner::Window && addressOf(inside) - before.address < before.sizeBytes
             ? std::optional(before)
             : std::nullopt;
}

bool Memory::isInAllocation(uint64_t address) const {
  if (!mayBeAddress(address))
    return false;
  const std::shared_lock lock(mutex_);
  const auto next = live_.upper_bound(address);
  return (next != live_.begin() &&
          address - std::prev(next)->first < std::prev(next)->second.sizeBytes) ||
         mapped_.contains(address);
}

bool Memory::isServed(const void* pointer) const {
  const auto found = findExact(pointer);
  return found && found->owner == Owner::Window;
}

std::optional<Allocation> Memory::detach(const void* pointer) {
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  if (found == live_.end() || found->second.owner != Owner::Window)
    return std::nullopt;
  Allocation gone = std::move(found->second);
  live_.erase(found);
  return gone;
}

void Memory::giveBack(const Allocation& detached) {
  const std::unique_lock lock(mutex_);
  WindowAllocator* window = existingWindow(detached.device);
  if (!window)
    return;
  window->release(detached.address, detached.sizeBytes);
  if (options_.idleBytesKept != ~0ull)
    window->trim(options_.idleBytesKept);
}

void* Memory::attachAgain(const Allocation& detached, uint64_t sizeBytes, void* pool) {
  const std::unique_lock lock(mutex_);
  live_[detached.address] = {.address = detached.address,
                             .sizeBytes = sizeBytes,
                             .kind = detached.kind,
                             .device = detached.device,
                             .annotation = {},
                             .pool = pool};
  return reinterpret_cast<void*>(detached.address);
}

bool Memory::release(const void* pointer) {
  const auto gone = detach(pointer);
  if (gone)
    giveBack(*gone);
  return gone.has_value();
}

std::vector<Allocation> Memory::reset(unsigned device) {
  const std::unique_lock lock(mutex_);
  std::vector<Allocation> gone;
  for (const auto& [address, allocation] : live_)
    if (!allocation.context &&
        (allocation.device == device || allocation.owner == Owner::Application))
      gone.push_back(allocation);
  for (const Allocation& allocation : gone)
    live_.erase(allocation.address);
  std::erase_if(sharing_,
                [&](const auto& pair) { return pair.first == device || pair.second == device; });
  if (const auto place = places_.find(device); place != places_.end()) {
    place->second.window.reset(); // before its backend
    places_.erase(place);
  }
  return gone;
}

void Memory::forgetContext(const void* context) {
  const std::unique_lock lock(mutex_);
  std::erase_if(live_, [&](const auto& item) { return context && item.second.context == context; });
}

void Memory::noteForeign(const void* pointer, uint64_t sizeBytes, artifact::RegionKind kind,
                         const WorkPlace& place) {
  const std::unique_lock lock(mutex_);
  hasSeenAllocations_ = true;
  const uint64_t address = addressOf(pointer);
  live_[address] = {.address = address,
                    .sizeBytes = sizeBytes,
                    .kind = kind,
                    .device = place.device,
                    .owner = Owner::Vendor,
                    .annotation = {},
                    .context = place.context};
}

void Memory::noteImported(const void* pointer, uint64_t sizeBytes, const WorkPlace& place) {
  noteForeign(pointer, sizeBytes, artifact::RegionKind::Allocation, place);
  const std::unique_lock lock(mutex_);
  if (const auto found = live_.find(addressOf(pointer)); found != live_.end())
    found->second.isImported = true;
}

void Memory::noteRegistered(const void* pointer, uint64_t sizeBytes, const WorkPlace& place) {
  const std::unique_lock lock(mutex_);
  const uint64_t address = addressOf(pointer);
  live_[address] = {.address = address,
                    .sizeBytes = sizeBytes,
                    .kind = artifact::RegionKind::HostPinned,
                    .owner = Owner::Application,
                    .annotation = {},
                    .context = place.context};
}

void Memory::forget(const void* pointer) {
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  if (found != live_.end() && found->second.owner != Owner::Window)
    live_.erase(found);
}

void Memory::noteOfGraph(const void* pointer) {
  const std::unique_lock lock(mutex_);
  graphMemory_.insert(addressOf(pointer));
}

std::vector<uint64_t> Memory::graphMemory() const {
  const std::shared_lock lock(mutex_);
  return {graphMemory_.begin(), graphMemory_.end()};
}

uint64_t Memory::placeMapped(uint64_t sizeBytes, uint64_t alignment) {
  const std::unique_lock lock(mutex_);
  return options_.makeBackend ? mapped_.place(sizeBytes, alignment) : 0;
}

void Memory::noteMapped(uint64_t address, uint64_t sizeBytes, bool isReadable) {
  const std::unique_lock lock(mutex_);
  hasSeenAllocations_ = true;
  if (isReadable)
    mapped_.note(address, sizeBytes);
  else
    mapped_.noteUnreadable(address, sizeBytes);
}

bool Memory::isUnreadable(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  return mapped_.isUnreadable(address);
}

void Memory::forgetMapped(uint64_t address, uint64_t sizeBytes) {
  const std::unique_lock lock(mutex_);
  mapped_.forget(address, sizeBytes);
}

MappedMemory Memory::mapped() const {
  const std::shared_lock lock(mutex_);
  return mapped_;
}

bool Memory::isPlaced(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  return std::ranges::any_of(places_, [&](const auto& place) {
    const WindowAllocator* window = existingWindow(place.first);
    return window && address - window->base() < window->sizeBytes();
  });
}

void Memory::share(unsigned owner, unsigned user) {
  const std::unique_lock lock(mutex_);
  sharing_.insert({owner, user});
  if (WindowAllocator* window = existingWindow(owner))
    window->share(user);
}

uint64_t Memory::excessBytes(unsigned device) const {
  const std::shared_lock lock(mutex_);
  const WindowAllocator* window = existingWindow(device);
  if (!window)
    return 0;
  uint64_t small = 0, large = 0;
  for (const auto& [address, allocation] : live_)
    if (allocation.owner == Owner::Window && allocation.device == device) {
      if (allocation.sizeBytes >= kVendorBlockBytes / 2)
        large += roundUp(allocation.sizeBytes, kVendorBlockBytes);
      else
        small += roundUp(allocation.sizeBytes, kAllocationAlignment);
    }
  return window->mappedBytes() + window->guards().takenBytes() - large -
         roundUp(small, kVendorBlockBytes);
}

uint64_t Memory::poolBytes(const void* pool) const {
  const std::shared_lock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [address, allocation] : live_)
    if (allocation.owner == Owner::Window && pool && allocation.pool == pool)
      bytes += allocation.sizeBytes;
  return bytes;
}

bool Memory::hasRoom(uint64_t sizeBytes, unsigned device) const {
  const std::shared_lock lock(mutex_);
  const WindowAllocator* window = existingWindow(device);
  return window && window->hasRoom(sizeBytes);
}

Window Memory::guardPage(unsigned device) const {
  const std::shared_lock lock(mutex_);
  const WindowAllocator* window = existingWindow(device);
  const std::optional<uint64_t> place = window ? window->guards().place() : std::nullopt;
  return place ? Window{*place, window->guards().takenBytes()} : Window{};
}

std::optional<Memory::StrayWrite> Memory::nearestStray(unsigned device,
                                                       uint64_t offsetInPage) const {
  const std::shared_lock lock(mutex_);
  const WindowAllocator* window = existingWindow(device);
  std::optional<StrayWrite> nearest;
  for (const auto& [address, allocation] : live_) {
    if (!window || allocation.owner != Owner::Window || allocation.device != device)
      continue;
    const uint64_t end = address + allocation.sizeBytes;
    const auto consider = [&](uint64_t place, uint64_t distance, bool isBehind) {
      if (window->guards().isGuard(place) && (!nearest || distance < nearest->distanceBytes))
        nearest = {distance, isBehind, allocation};
    };
    const uint64_t behind = distanceBehind(end, offsetInPage);
    const uint64_t before = distanceBefore(address, offsetInPage);
    consider(end + behind, behind, true);
    consider(address - before, before, false);
  }
  return nearest;
}

bool Memory::annotate(const void* pointer, const artifact::Annotation& annotation) {
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  if (found == live_.end())
    return false;
  found->second.annotation = annotation;
  return true;
}

std::string Memory::annotatePart(const void* begin, uint64_t sizeBytes,
                                 const artifact::Annotation& annotation) {
  const std::unique_lock lock(mutex_);
  const auto next = live_.upper_bound(addressOf(begin));
  const uint64_t offset =
      next == live_.begin() ? 0 : addressOf(begin) - std::prev(next)->second.address;
  if (next == live_.begin() || offset >= std::prev(next)->second.sizeBytes)
    return "no live allocation holds them";
  Allocation& owner = std::prev(next)->second;
  if (sizeBytes > owner.sizeBytes - offset)
    return "the allocation ends before them, after " + std::to_string(owner.sizeBytes - offset) +
           " bytes";
  const artifact::AnnotatedPart part{offset, sizeBytes, annotation};
  auto place = std::find_if(owner.parts.begin(), owner.parts.end(), [&](const auto& other) {
    return other.offset + other.sizeBytes > offset;
  });
  if (place != owner.parts.end() && place->offset == offset && place->sizeBytes == sizeBytes)
    *place = part;
  else if (place != owner.parts.end() && place->offset < offset + sizeBytes)
    return "they overlap other annotated bytes";
  else
    owner.parts.insert(place, part);
  return "";
}

const artifact::Annotation* Memory::annotationOf(const void* pointer) const {
  const std::shared_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  return found == live_.end() || !found->second.annotation.isSet ? nullptr
                                                                 : &found->second.annotation;
}

std::string Memory::whyNotCapturable() const {
  const std::shared_lock lock(mutex_);
  if (options_.capturesVendors)
    return "";
  if (isWindowRefused_)
    return "the address window of " + std::to_string(options_.windowBytes >> 20) +
           " MiB is not granted in this process; try a smaller -vass";
  for (const auto& [address, allocation] : live_)
    if (allocation.owner == Owner::Vendor)
      return "an allocation of " + std::to_string(allocation.sizeBytes) +
             " bytes lies outside the address window of " +
             std::to_string(options_.windowBytes >> 20) +
             " MiB: it did not fit (raise -vass, or let the program allocate less at once), or a "
             "graph was captured meanwhile";
  return "";
}

template <typename IsWanted>
std::vector<artifact::Region> Memory::select(const IsWanted& isWanted) const {
  const std::shared_lock lock(mutex_);
  std::vector<artifact::Region> regions;
  for (const auto& [address, allocation] : live_) {
    if (!isWanted(allocation))
      continue;
    artifact::Region region;
    region.address = address;
    region.sizeBytes = allocation.sizeBytes;
    region.kind = allocation.kind;
    region.annotation = allocation.annotation;
    region.parts = allocation.parts;
    regions.push_back(region);
  }
  return regions;
}

std::vector<artifact::Region> Memory::regions(const WorkPlace& place) const {
  return select([&](const Allocation& one) { return isCertain(one, place); });
}

std::vector<artifact::Region> Memory::reachable(const WorkPlace& place,
                                                const std::vector<uint64_t>& arguments) const {
  return select([&](const Allocation& one) {
    if (isCertain(one, place))
      return false;
    return isHostKind(one.kind) || sharing_.contains({one.device, place.device}) ||
           std::ranges::any_of(arguments,
                               [&](uint64_t word) { return word - one.address < one.sizeBytes; });
  });
}

Window Memory::window(unsigned device) const {
  const std::shared_lock lock(mutex_);
  const WindowAllocator* window = existingWindow(device);
  return window ? Window{window->base(), window->sizeBytes()} : Window{};
}

bool Memory::hasForeign() const {
  const std::shared_lock lock(mutex_);
  return std::any_of(live_.begin(), live_.end(), [](const auto& item) {
    return item.second.owner == Owner::Vendor && !item.second.isImported && !item.second.context &&
           item.second.kind == artifact::RegionKind::Allocation;
  });
}

bool Memory::hasSeenAllocations() const noexcept { return hasSeenAllocations_; }

} // namespace mneme::record
