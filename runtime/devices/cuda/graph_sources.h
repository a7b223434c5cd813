// Room devices/cuda: which graph each executable graph was made from. The driver changes nodes of
// an executable graph by those of that graph alone, also after an update by another one.
#pragma once

#include <mutex>
#include <unordered_map>

namespace mneme::device::cuda {

/// Thread-safe.
class GraphSources {
public:
  /// Call it when `exec` was made from `graph`, or updated by it. Returns whether the driver takes
  /// nodes of `graph` for those of `exec`; true also if nobody has seen how that was made.
  bool note(const void* exec, const void* graph, bool isUpdate) {
    const std::lock_guard lock(mutex_);
    if (!isUpdate)
      sources_[exec] = graph;
    const auto known = sources_.find(exec);
    return known == sources_.end() || known->second == graph;
  }

private:
  std::mutex mutex_;
  /// As many as live at once: the driver gives handles again.
  std::unordered_map<const void*, const void*> sources_;
};

} // namespace mneme::device::cuda
