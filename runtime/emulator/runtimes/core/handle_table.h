// Room emulator/runtimes: live handles of one kind, so that a stale handle causes an error instead
// of a crash.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace mneme::cpu_runtime {

/// Owns objects that the application refers to by address. Thread-safe.
template <typename Object> class HandleTable {
public:
  void* add(std::shared_ptr<Object> object) {
    void* handle = object.get();
    const std::lock_guard lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  /// Returns null for a handle that is not (or no longer) in the table.
  std::shared_ptr<Object> find(void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  bool remove(void* handle) {
    const std::lock_guard lock(mutex_);
    return objects_.erase(handle) != 0;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    objects_.clear();
  }

private:
  mutable std::mutex mutex_;
  std::unordered_map<void*, std::shared_ptr<Object>> objects_;
};

} // namespace mneme::cpu_runtime
