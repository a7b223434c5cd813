// What a session holds on devices and in their contexts.
#include <cstdlib>
#include <utility>

#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

namespace mneme::record {

/// While the place is the current one.
DeviceAccess& Session::accessOf(const WorkPlace& place) {
  const std::lock_guard lock(accessMutex_);
  // The vendor has started by now, so this handler runs before the one that shuts it down.
  if (accesses_.empty() && !std::exchange(hasEndHandler_, true))
    std::atexit([] { Session::existing()->vendorEnds(); });
  const auto known = accesses_.find(place);
  if (known != accesses_.end())
    return *known->second;
  return *accesses_.emplace(place, backend_.makeAccess(place.device)).first->second;
}

void Session::forgetDevice(unsigned device) noexcept {
  if (!isOwner())
    return;
  {
    const std::lock_guard lock(heapsMutex_);
    heaps_.erase(device);
  }
  const std::lock_guard lock(accessMutex_);
  accesses_.erase(device);
  history_.forgetAll();
  if (globals_)
    globals_->forgetAll();
  graphs_.forgetAll();
  if (graphBlocks_)
    graphBlocks_->forgetDevice(device);
  textures_.forgetDevice(device);
  limitsSet_.forgetDevice(device);
  cacheConfigs_.forgetIf(
      [&](const WorkPlace& place, const void*) { return place == WorkPlace(device); });
  forgetWork(device);
}

/// Before the vendor gives handles and addresses to others.
std::vector<std::shared_ptr<const LoadedModule>> Session::contextEnds(void* context) noexcept {
  std::vector<std::shared_ptr<const LoadedModule>> ended;
  if (!isOwner())
    return ended;
  backend_.contextEnds(context);
  try {
    for (void* handle : loaded_.handlesIn(context))
      if (auto module = moduleUnloaded(handle))
        ended.push_back(std::move(module));
  } catch (const std::exception& error) {
    note(sentence("code of a context that ended may be mistaken for other code: ", error.what()));
  }
  {
    const std::lock_guard lock(heapsMutex_);
    std::erase_if(heaps_, [&](const auto& item) { return item.first.context == context; });
  }
  const std::lock_guard lock(accessMutex_);
  std::erase_if(accesses_, [&](const auto& item) {
    if (item.first.context != context)
      return false;
    item.second->finish();
    history_.forgetAll();
    forgetWork(item.first.device);
    return true;
  });
  if (globals_)
    globals_->forgetAll();
  return ended;
}

void Session::contextEnded(
    void* context, bool hasEnded,
    const std::vector<std::shared_ptr<const LoadedModule>>& modules) noexcept {
  if (hasEnded) {
    memory_->forgetContext(context);
    textures_.forgetContext(context);
    limitsSet_.forgetContext(context);
    cacheConfigs_.forgetIf(
        [&](const WorkPlace& place, const void*) { return context && place.context == context; });
  } else
    for (const auto& module : modules)
      moduleLoaded(module);
}

void Session::limitSet(int limit) noexcept {
  try {
    limitsSet_.note(backend_.currentPlace(), limit);
  } catch (const std::exception&) { // no memory: a recording lacks the limit
  }
}

void Session::cacheConfigSet(const void* kernel, CacheConfig config,
                             std::optional<int> device) noexcept {
  try {
    const void* const first = loaded_.firstHandle(kernel);
    const TextureAccess* const driver = backend_.textures(); // the runtime may be what calls
    const auto known = driver ? driver->place() : std::nullopt;
    const WorkPlace place = device  ? WorkPlace(static_cast<unsigned>(*device))
                            : known ? *known
                                    : backend_.currentPlace();
    cacheConfigs_.note(place, first ? first : kernel, config, device.has_value());
  } catch (const std::exception&) { // no memory: a recording lacks it
  }
}

/// What the program wants of the L1 cache: for the launch, for the kernel, or for its context.
void Session::addCachePreference(const Attempt& attempt, const mneme_launch& launch,
                                 artifact::Instance& instance) {
  instance.sharedCarveout = attempt.traits.sharedCarveout
                                ? attempt.traits.sharedCarveout
                                : backend_.carveoutOf(attempt.info->placeOf(launch.kernel));
  instance.cacheConfig = cacheConfigs_.of(place_, launch.kernel);
  if (instance.cacheConfig == CacheConfig::None)
    instance.cacheConfig = backend_.cacheConfig();
}

void Session::giveBackDeviceMemory() noexcept {
  if (!isOwner())
    return;
  const std::lock_guard lock(accessMutex_);
  for (const auto& [place, access] : accesses_)
    access->giveBack();
}

uint64_t Session::ownDeviceBytes(unsigned device) noexcept {
  const std::lock_guard lock(accessMutex_);
  uint64_t bytes = 0;
  for (const auto& [place, access] : accesses_)
    bytes += place.device == device ? access->ownBytes() : 0;
  return bytes;
}

} // namespace mneme::record
