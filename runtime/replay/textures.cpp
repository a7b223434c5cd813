#include "runtime/replay/textures.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/artifact/recorded_reads.h"
#include "runtime/core/base/error.h"
#include "runtime/replay/text.h"

namespace mneme::replay {
namespace {

/// Where the recorded memory of an object is now; 0 if it was not recorded.
uint64_t placeOf(const TextureObject& object, const MemoryImage& image) {
  for (const Site& site : image.sites()) {
    const artifact::Region& region = site.region;
    const uint64_t offset = object.memory - region.address;
    if (object.memory < region.address || offset >= region.sizeBytes)
      continue;
    if (object.isArray() && object.memoryBytes > region.sizeBytes - offset)
      throw Error(ErrorCode::ArtifactCorrupt, "the recording lacks a part of the array whose "
                                              "content is at " +
                                                  hexText(object.memory));
    return site.live + offset;
  }
  return 0;
}

/// A pointer never holds a handle.
bool isPointer(size_t argument, const artifact::KernelRecord& record) {
  return argument < record.args.size() && record.args[argument].kind == ArgKind::Pointer;
}

} // namespace

Textures::Textures(device::Device& device, const artifact::KernelRecord& record,
                   const artifact::Instance& instance, const MemoryImage& image)
    : wanted_(instance.textures), arguments_(image.arguments()) {
  if (wanted_.empty() || record.device == "cpu")
    return;
  for (TextureObject& object : wanted_) {
    object.memory = placeOf(object, image);
    if (object.memory == 0)
      return;
  }
  made_ = device.makeTextures(wanted_);
  isGiven_ = rewrite(arguments_, record);
}

/// Where the device gave other handles, arguments are rewritten; what memory holds is not.
std::vector<bool> Textures::rewrite(std::vector<std::vector<std::byte>>& arguments,
                                    const artifact::KernelRecord& record) {
  std::vector<bool> isGiven(wanted_.size());
  if (!made_)
    return isGiven;
  const std::vector<uint64_t>& handles = made_->handles();
  for (size_t argument = 0; argument < arguments.size(); ++argument) {
    std::vector<std::byte>& value = arguments[argument];
    if (isPointer(argument, record))
      continue;
    for (size_t at = 0; at + sizeof(uint64_t) <= value.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0, here = 0;
      std::memcpy(&word, value.data() + at, sizeof(word));
      for (size_t index = 0; index < wanted_.size(); ++index) {
        if (wanted_[index].handle != word)
          continue;
        isClear_ = isClear_ && (here == 0 || here == handles[index]);
        here = handles[index];
        isGiven[index] = true;
      }
      if (here != 0)
        std::memcpy(value.data() + at, &here, sizeof(here));
    }
  }
  return isGiven;
}

bool Textures::holds(std::string_view read, const std::vector<bool>& isGiven) const noexcept {
  if (!made_ || !isClear_ || !artifact::isOfTextures(read))
    return false;
  bool isAny = false;
  for (size_t index = 0; index < wanted_.size(); ++index) {
    if (!isGiven[index] && made_->handles()[index] != wanted_[index].handle)
      return false; // it is not where a kernel looks for it
    isAny |= wanted_[index].isSurface == (read == "surfaces");
  }
  return isAny;
}

bool Textures::isArray(uint64_t address) const noexcept {
  return made_ && std::ranges::any_of(wanted_, [&](const TextureObject& object) {
           return object.isArray() && address - object.memory < object.memoryBytes;
         });
}

void nameArrays(std::vector<Label>& labels, const MemoryImage& image,
                const std::vector<TextureObject>& textures) {
  for (size_t index = 0; index < labels.size(); ++index)
    for (const TextureObject& object : textures)
      if (const uint64_t address = image.sites()[index].region.address;
          object.isArray() && object.memory == address)
        labels[index].text = "array at " + hexText(address);
}

void Textures::load(bool isOther) {
  if (made_)
    made_->load(isOther);
}

void Textures::store() {
  if (made_)
    made_->store();
}

} // namespace mneme::replay
