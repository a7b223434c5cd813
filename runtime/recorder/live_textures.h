// Room recorder: texture and surface objects of the program that exist now.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace mneme::record {

/// Thread-safe. An object whose array is destroyed counts as destroyed: kernels can do nothing with
/// it.
class LiveTextures {
public:
  struct Object {
    unsigned device = 0;
    uint64_t handle = 0;
    bool isSurface = false;
    const void* array = nullptr; ///< the vendor's handle; null: it shows plain memory
  };

  void add(const Object& object);
  void remove(unsigned device, uint64_t handle, bool isSurface);
  void forgetArray(const void* array);
  void forgetDevice(unsigned device);
  /// Returns the texture objects of a device, or its surface objects, by handle.
  std::vector<Object> of(unsigned device, bool isSurface) const;

private:
  mutable std::mutex mutex_;
  std::vector<Object> objects_; ///< by handle
};

} // namespace mneme::record
