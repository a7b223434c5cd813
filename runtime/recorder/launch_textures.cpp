#include "runtime/recorder/launch_textures.h"

#include <algorithm>

#include "runtime/core/base/error.h"

namespace mneme::record {

LaunchTextures::~LaunchTextures() { drop(0); }

/// Forgets all but the first `count`.
void LaunchTextures::drop(size_t count) {
  for (; taken_.size() > count; taken_.pop_back())
    if (taken_.back().ownsMemory)
      memory_.release(reinterpret_cast<const void*>(taken_.back().found.object.memory));
}

void LaunchTextures::placeArray(Taken& taken) {
  TextureObject& object = taken.found.object;
  const auto same = std::ranges::find_if(
      taken_, [&](const Taken& one) { return one.found.array == taken.found.array; });
  if (same != taken_.end()) {
    object.memory = same->found.object.memory;
    return;
  }
  void* const place =
      memory_.allocate(object.memoryBytes, artifact::RegionKind::Allocation, device_);
  if (!place)
    throw Error(ErrorCode::OutOfMemory,
                "the recorder's window has no room for the content of an array");
  object.memory = reinterpret_cast<uint64_t>(place);
  taken.ownsMemory = true;
}

std::string LaunchTextures::take(const std::vector<LiveTextures::Object>& objects) {
  const size_t before = taken_.size();
  try {
    for (const LiveTextures::Object& one : objects) {
      Taken taken{.found = access_->describe(one.handle, one.isSurface)};
      if (taken.found.object.isArray())
        placeArray(taken);
      taken_.push_back(std::move(taken));
    }
    return "";
  } catch (const std::exception& error) {
    drop(before);
    return error.what();
  }
}

void LaunchTextures::fetch() {
  for (const Taken& taken : taken_)
    if (taken.ownsMemory)
      access_->fetch(taken.found, taken.found.object.memory);
}

std::vector<TextureObject> LaunchTextures::descriptions() const {
  std::vector<TextureObject> all;
  for (const Taken& taken : taken_)
    all.push_back(taken.found.object);
  return all;
}

} // namespace mneme::record
