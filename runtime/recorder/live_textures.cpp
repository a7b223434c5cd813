#include "runtime/recorder/live_textures.h"

#include <algorithm>

namespace mneme::record {

void LiveTextures::add(const Object& object) {
  const std::lock_guard lock(mutex_);
  const auto added = objects_.insert(
      std::ranges::upper_bound(objects_, object.handle, {}, &Object::handle), object);
  added->number = ++numbered_;
  const auto part = parts_.find(object.array);
  added->part = part == parts_.end() ? Part{} : part->second;
}

void LiveTextures::remove(const WorkPlace& place, uint64_t handle, bool isSurface) {
  const std::lock_guard lock(mutex_);
  std::erase_if(objects_, [&](const Object& one) {
    return one.place == place && one.handle == handle && one.isSurface == isSurface;
  });
}

void LiveTextures::notePart(const void* array, const Part& part) {
  const std::lock_guard lock(mutex_);
  parts_[array] = part;
}

void LiveTextures::forgetArray(const void* array) {
  const std::lock_guard lock(mutex_);
  std::erase_if(objects_, [&](const Object& one) {
    return array && (one.array == array || one.part.whole == array);
  });
  std::erase_if(parts_,
                [&](const auto& one) { return one.first == array || one.second.whole == array; });
}

/// `mutex_` is held.
template <typename IsGone> void LiveTextures::forgetIf(const IsGone& isGone) {
  std::erase_if(objects_, [&](const Object& one) { return isGone(one.place); });
  std::erase_if(parts_, [&](const auto& one) { return isGone(one.second.place); });
}

void LiveTextures::forgetDevice(unsigned device) {
  const std::lock_guard lock(mutex_);
  forgetIf([&](const WorkPlace& place) { return place == WorkPlace(device); });
}

void LiveTextures::forgetContext(const void* context) {
  const std::lock_guard lock(mutex_);
  forgetIf([&](const WorkPlace& place) { return context && place.context == context; });
}

std::vector<LiveTextures::Object> LiveTextures::of(const WorkPlace& place, bool isSurface) const {
  const std::lock_guard lock(mutex_);
  std::vector<Object> found;
  for (const Object& one : objects_)
    if (one.place == place && one.isSurface == isSurface)
      found.push_back(one);
  return found;
}

} // namespace mneme::record
