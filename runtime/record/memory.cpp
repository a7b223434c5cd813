#include "runtime/record/memory.h"

#include <algorithm>
#include <mutex>

namespace mneme::record {
namespace {

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

} // namespace

Memory::Memory(std::unique_ptr<MemoryBackend> backend, uint64_t windowBytes)
    : backend_(std::move(backend)), windowBytes_(windowBytes) {}

WindowAllocator* Memory::windowOf(unsigned device) {
  if (!backend_)
    return nullptr;
  auto& window = windows_[device];
  if (!window)
    window = std::make_unique<WindowAllocator>(*backend_, device, windowBytes_);
  if (window->base() == 0) {
    isWindowRefused_ = true;
    return nullptr;
  }
  return window.get();
}

void* Memory::allocate(uint64_t sizeBytes, artifact::RegionKind kind, unsigned device) {
  const std::unique_lock lock(mutex_);
  hasSeenAllocations_ = true;
  WindowAllocator* window = sizeBytes ? windowOf(device) : nullptr;
  const uint64_t address = window ? window->allocate(sizeBytes) : 0;
  if (address != 0)
    live_[address] = {address, sizeBytes, kind, device, false, {}};
  return reinterpret_cast<void*>(address);
}

std::optional<Allocation> Memory::findExact(const void* pointer) const {
  const std::shared_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  return found == live_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Allocation> Memory::findContaining(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin())
    return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  // One past the end counts: it is a legal pointer to the allocation.
  if (address - candidate.address > candidate.sizeBytes)
    return std::nullopt;
  return candidate;
}

bool Memory::release(const void* pointer) {
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  if (found == live_.end() || found->second.isRegistered)
    return false;
  windows_.at(found->second.device)->release(found->first, found->second.sizeBytes);
  live_.erase(found);
  return true;
}

std::vector<Allocation> Memory::reset(unsigned device) {
  const std::unique_lock lock(mutex_);
  std::vector<Allocation> gone;
  for (const auto& [address, allocation] : live_)
    if (allocation.device == device || allocation.isRegistered)
      gone.push_back(allocation);
  for (const Allocation& allocation : gone)
    live_.erase(allocation.address);
  foreign_.clear();
  if (const auto window = windows_.find(device); window != windows_.end() && window->second->base())
    window->second->reset();
  return gone;
}

void Memory::noteForeign(const void* pointer, uint64_t sizeBytes) {
  const std::unique_lock lock(mutex_);
  hasSeenAllocations_ = true;
  foreign_[addressOf(pointer)] = sizeBytes;
}

void Memory::forgetForeign(const void* pointer) {
  const std::unique_lock lock(mutex_);
  foreign_.erase(addressOf(pointer));
}

void Memory::noteRegistered(const void* pointer, uint64_t sizeBytes) {
  const std::unique_lock lock(mutex_);
  live_[addressOf(pointer)] = {
      addressOf(pointer), sizeBytes, artifact::RegionKind::HostPinned, 0, true, {}};
}

void Memory::forgetRegistered(const void* pointer) {
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  if (found != live_.end() && found->second.isRegistered)
    live_.erase(found);
}

bool Memory::annotate(const void* pointer, const artifact::Annotation& annotation) {
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  if (found == live_.end())
    return false;
  found->second.annotation = annotation;
  return true;
}

const artifact::Annotation* Memory::annotationOf(const void* pointer) const {
  const std::shared_lock lock(mutex_);
  const auto found = live_.find(addressOf(pointer));
  return found == live_.end() || !found->second.annotation.isSet ? nullptr
                                                                 : &found->second.annotation;
}

std::string Memory::whyNotCapturable() const {
  const std::shared_lock lock(mutex_);
  if (!backend_)
    return "memory of this runtime cannot be captured; run it on the CPU device "
           "(mneme record --device cpu)";
  if (isWindowRefused_)
    return "the address window of " + std::to_string(windowBytes_ >> 20) +
           " MiB is not granted in this process; try a smaller -vass";
  if (!foreign_.empty())
    return "an allocation of " + std::to_string(foreign_.begin()->second) +
           " bytes did not fit into the address window of " + std::to_string(windowBytes_ >> 20) +
           " MiB; raise -vass";
  return "";
}

std::vector<artifact::Region> Memory::regions(unsigned device,
                                              const std::vector<uint64_t>& pointers) const {
  const std::shared_lock lock(mutex_);
  std::vector<artifact::Region> regions;
  for (const auto& [address, allocation] : live_) {
    const bool isReached = std::any_of(pointers.begin(), pointers.end(), [&](uint64_t pointer) {
      return pointer >= address && pointer - address < allocation.sizeBytes;
    });
    if (allocation.isRegistered && !isReached)
      continue;
    if (allocation.device != device && allocation.kind == artifact::RegionKind::Allocation &&
        !isReached)
      continue;
    artifact::Region region;
    region.address = address;
    region.sizeBytes = allocation.sizeBytes;
    region.kind = allocation.kind;
    region.annotation = allocation.annotation;
    regions.push_back(region);
  }
  return regions;
}

Window Memory::window(unsigned device) const {
  const std::shared_lock lock(mutex_);
  const auto found = windows_.find(device);
  return found == windows_.end() ? Window{}
                                 : Window{found->second->base(), found->second->sizeBytes()};
}

bool Memory::hasSeenAllocations() const noexcept { return hasSeenAllocations_; }

} // namespace mneme::record
