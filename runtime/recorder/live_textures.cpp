#include "runtime/recorder/live_textures.h"

#include <algorithm>

namespace mneme::record {

void LiveTextures::add(const Object& object) {
  const std::lock_guard lock(mutex_);
  objects_.insert(std::ranges::upper_bound(objects_, object.handle, {}, &Object::handle), object);
}

void LiveTextures::remove(unsigned device, uint64_t handle, bool isSurface) {
  const std::lock_guard lock(mutex_);
  std::erase_if(objects_, [&](const Object& one) {
    return one.device == device && one.handle == handle && one.isSurface == isSurface;
  });
}

void LiveTextures::forgetArray(const void* array) {
  const std::lock_guard lock(mutex_);
  std::erase_if(objects_, [&](const Object& one) { return array && one.array == array; });
}

void LiveTextures::forgetDevice(unsigned device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(objects_, [&](const Object& one) { return one.device == device; });
}

std::vector<LiveTextures::Object> LiveTextures::of(unsigned device, bool isSurface) const {
  const std::lock_guard lock(mutex_);
  std::vector<Object> found;
  for (const Object& one : objects_)
    if (one.device == device && one.isSurface == isSurface)
      found.push_back(one);
  return found;
}

} // namespace mneme::record
