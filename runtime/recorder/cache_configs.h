// Room recorder: what the program prefers of the L1 cache for single kernels. No driver tells it.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "runtime/core/abi/cache_config.h"
#include "runtime/recorder/work_place.h"

namespace mneme::record {

/// By the kernels' handles. Thread-safe.
class CacheConfigs {
public:
  /// \param isOfDevice whether it is for all contexts of a device: it counts where a context has
  ///     nothing of its own, whichever was set first
  void note(const WorkPlace& place, const void* kernel, CacheConfig config, bool isOfDevice) {
    const std::lock_guard lock(mutex_);
    auto& all = isOfDevice ? ofDevices_ : set_;
    if (config == CacheConfig::None)
      all.erase({place, kernel});
    else
      all[{place, kernel}] = config;
  }
  CacheConfig of(const WorkPlace& place, const void* kernel) const {
    const std::lock_guard lock(mutex_);
    if (const auto found = set_.find({place, kernel}); found != set_.end())
      return found->second;
    const auto found = ofDevices_.find({WorkPlace(place.device), kernel});
    return found == ofDevices_.end() ? CacheConfig::None : found->second;
  }
  /// Before others have their handles. `isGone` is asked about place and kernel.
  template <typename IsGone> void forgetIf(const IsGone& isGone) {
    const std::lock_guard lock(mutex_);
    for (Known* all : {&set_, &ofDevices_})
      std::erase_if(*all,
                    [&](const auto& item) { return isGone(item.first.first, item.first.second); });
  }

private:
  using Known = std::map<std::pair<WorkPlace, const void*>, CacheConfig>;
  mutable std::mutex mutex_;
  Known set_, ofDevices_;
};

} // namespace mneme::record
