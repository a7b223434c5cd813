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
