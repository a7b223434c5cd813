// Room recorder: texture and surface objects of the program that exist now.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/core/abi/texture_object.h"
#include "runtime/recorder/work_place.h"

namespace mneme::record {

/// Thread-safe. An object whose array is destroyed counts as destroyed: kernels can do nothing with
/// it.
class LiveTextures {
public:
  /// A level or a plane of an array, which has a handle of its own and ends with the array.
  struct Part {
    const void* whole = nullptr;
    std::optional<uint32_t> level = std::nullopt; ///< of an array with mipmaps
    WorkPlace place = {};
  };
  struct Object {
    WorkPlace place = {};
    uint64_t handle = 0;
    bool isSurface = false;
    const void* array = nullptr; ///< the vendor's handle; null: it shows plain memory
    /// As the program asked for it: a driver does not give all of it back.
    std::optional<TextureSampler> sampler = std::nullopt;
    std::optional<TextureView> view = std::nullopt;
    Part part = {};      ///< what the array is a part of, if it is one
    uint64_t number = 0; ///< tells it from a later one that has its handle
  };

  /// Finds out itself what the array is a part of, and gives it a number.
  void add(const Object& object);
  void remove(const WorkPlace& place, uint64_t handle, bool isSurface);
  void notePart(const void* array, const Part& part);
  void forgetArray(const void* array);
  /// Forgets what is in the device's contexts, but for those that the program made itself.
  void forgetDevice(unsigned device);
  void forgetContext(const void* context);
  /// Returns the texture objects of a place, or its surface objects, by handle.
  std::vector<Object> of(const WorkPlace& place, bool isSurface) const;

private:
  template <typename IsGone> void forgetIf(const IsGone& isGone);

  mutable std::mutex mutex_;
  std::vector<Object> objects_; ///< by handle
  std::map<const void*, Part> parts_;
  uint64_t numbered_ = 0;
};

} // namespace mneme::record
