#include "runtime/recorder/launch_textures.h"

#include <algorithm>

#include "runtime/core/base/error.h"

namespace mneme::record {

/// What is recorded of plain memory that an object shows: the whole allocation.
Allocation shownBy(const TextureObject& object, const Memory& memory) {
  if (const auto served = memory.findServed(reinterpret_cast<const void*>(object.memory)))
    return *served;
  Allocation part{};
  part.address = object.memory;
  part.sizeBytes = object.memoryBytes;
  return part;
}

LaunchTextures::~LaunchTextures() { drop(0); }

void* LaunchTextures::place(uint64_t sizeBytes) {
  constexpr auto kKind = artifact::RegionKind::Allocation;
  if (!place_.context)
    return memory_.allocate(sizeBytes, kKind, place_.device);
  void* const memory = access_->allocate(sizeBytes);
  if (memory)
    memory_.noteForeign(memory, sizeBytes, kKind, place_);
  return memory;
}

void LaunchTextures::release(void* memory) noexcept {
  if (!place_.context) {
    memory_.release(memory);
    return;
  }
  memory_.forget(memory);
  if (!isAbandoned_)
    access_->free(memory); // else it ends with the context
}

/// Forgets all but the first `count`.
void LaunchTextures::drop(size_t count) noexcept {
  for (; taken_.size() > count; taken_.pop_back())
    if (taken_.back().ownsMemory)
      release(reinterpret_cast<void*>(taken_.back().found.object.memory));
}

void LaunchTextures::placeArray(Taken& taken, uint64_t mostBytes) {
  TextureObject& object = taken.found.object;
  const auto same = std::ranges::find_if(
      taken_, [&](const Taken& one) { return one.found.array == taken.found.array; });
  if (same != taken_.end()) {
    object.memory = same->found.object.memory;
    return;
  }
  if (object.memoryBytes > mostBytes)
    throw Error(ErrorCode::Unsupported, "its array is large");
  void* const memory = place(object.memoryBytes);
  if (!memory)
    throw Error(ErrorCode::OutOfMemory, "there is no room for the content of an array");
  object.memory = reinterpret_cast<uint64_t>(memory);
  taken.ownsMemory = true;
}

/// Perhaps by another kernel of a graph.
bool LaunchTextures::isTaken(const LiveTextures::Object& object) const {
  return std::ranges::any_of(taken_, [&](const Taken& one) {
    return one.found.object.handle == object.handle &&
           one.found.object.isSurface == object.isSurface;
  });
}

/// Returns how much memory is recorded for it alone.
uint64_t LaunchTextures::take(const LiveTextures::Object& object, uint64_t mostBytes,
                              bool isNamed) {
  if (isTaken(object))
    return 0;
  Taken taken{.found = access_->describe(object), .number = object.number};
  const TextureObject& found = taken.found.object;
  if (found.isArray())
    placeArray(taken, mostBytes);
  else if (!isNamed && !memory_.isInAllocation(found.memory))
    return 0; // it was freed: nothing can read it
  uint64_t bytes = taken.ownsMemory ? found.memoryBytes : 0;
  if (!found.isArray()) {
    const Allocation shown = shownBy(found, memory_);
    const bool isShown = std::ranges::any_of(taken_, [&](const Taken& one) {
      const TextureObject& other = one.found.object;
      return !other.isArray() && other.memory - shown.address < shown.sizeBytes;
    });
    bytes = isShown ? 0 : shown.sizeBytes;
    if (bytes > mostBytes)
      throw Error(ErrorCode::Unsupported, "its memory is large");
  }
  taken_.push_back(std::move(taken));
  return bytes;
}

std::string LaunchTextures::take(const std::vector<LiveTextures::Object>& objects, bool areNamed) {
  const size_t before = taken_.size();
  try {
    for (const LiveTextures::Object& one : objects)
      take(one, ~uint64_t{0}, areNamed);
    return "";
  } catch (const std::exception& error) {
    drop(before);
    return error.what();
  }
}

size_t LaunchTextures::takeIfSmall(const std::vector<LiveTextures::Object>& objects, size_t most) {
  size_t left = 0;
  for (const LiveTextures::Object& one : objects)
    try {
      const size_t before = taken_.size();
      if (unnamed_ >= most && !isTaken(one))
        throw Error(ErrorCode::Unsupported, "there are too many");
      smallBytesLeft_ -= take(one, smallBytesLeft_, false);
      unnamed_ += taken_.size() - before;
    } catch (const std::exception&) {
      ++left;
    }
  return left;
}

void LaunchTextures::noteLive(const std::vector<LiveTextures::Object>& live) {
  for (Taken& taken : taken_)
    taken.isGone = std::ranges::none_of(live, [&](const LiveTextures::Object& one) {
      return one.number == taken.number && one.handle == taken.found.object.handle &&
             one.isSurface == taken.found.object.isSurface;
    });
}

void LaunchTextures::fetch() {
  const auto isShown = [&](const void* array) {
    return std::ranges::any_of(
        taken_, [&](const Taken& one) { return !one.isGone && one.found.array == array; });
  };
  for (const Taken& taken : taken_)
    if (taken.ownsMemory && isShown(taken.found.array))
      access_->fetch(taken.found, taken.found.object.memory);
}

std::vector<TextureObject> LaunchTextures::descriptions() const {
  std::vector<TextureObject> all;
  for (const Taken& taken : taken_)
    all.push_back(taken.found.object);
  return all;
}

} // namespace mneme::record
