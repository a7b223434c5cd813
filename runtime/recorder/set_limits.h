// Room recorder: which limits of contexts the program has set.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "runtime/recorder/work_place.h"

namespace mneme::record {

/// Thread-safe.
class SetLimits {
public:
  /// By the vendor's number.
  void note(const WorkPlace& context, int limit) {
    const std::lock_guard lock(mutex_);
    if (limit >= 0 && limit < 32)
      set_[context] |= uint32_t{1} << limit;
  }
  /// Returns a bit for each.
  uint32_t of(const WorkPlace& context) const {
    const std::lock_guard lock(mutex_);
    const auto found = set_.find(context);
    return found == set_.end() ? 0 : found->second;
  }
  /// Before another context has its handle.
  void forgetContext(const void* context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(set_, [&](const auto& item) { return item.first.context == context; });
  }
  /// A reset ends the context that all share.
  void forgetDevice(unsigned device) {
    const std::lock_guard lock(mutex_);
    set_.erase(device);
  }

private:
  mutable std::mutex mutex_;
  std::map<WorkPlace, uint32_t> set_;
};

} // namespace mneme::record
