#include "runtime/core/artifact/texture_fields.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "runtime/core/base/hash.h"

namespace mneme::artifact {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kSources = {"array", "mipmapped", "linear", "pitched"};
/// A level of a mipmapped array: a kind of its own, so that who knows no levels refuses it.
constexpr std::string_view kLevel = "level";

std::string_view sourceNameOf(const TextureObject& object) {
  return object.level && object.source == TextureSource::Mipmapped
             ? kLevel
             : kSources[size_t(object.source)];
}

/// Records of before that kind say "mipmapped", and have a level.
TextureSource sourceFromJson(const Fields& fields) {
  const std::string name = fields.text("Source");
  const auto source = std::ranges::find(kSources, name);
  if (name != kLevel && source == kSources.end())
    fields.refuse("Source", "is of an unknown kind");
  if (name == kLevel && !fields.has("Level"))
    fields.refuse("Source", "is a level, but nothing says which");
  return name == kLevel ? TextureSource::Mipmapped
                        : static_cast<TextureSource>(source - kSources.begin());
}

json samplerToJson(const TextureSampler& sampler) {
  return {{"Address", sampler.address},
          {"Filter", sampler.filter},
          {"Flags", sampler.flags},
          {"MaxAnisotropy", sampler.maxAnisotropy},
          {"MipmapFilter", sampler.mipmapFilter},
          {"Levels", {sampler.mipmapBias, sampler.leastLevel, sampler.greatestLevel}},
          {"Border", sampler.border}};
}

json viewToJson(const TextureView& view) {
  return {{"Format", view.format},
          {"Size", {view.width, view.height, view.depth}},
          {"Levels", {view.firstLevel, view.lastLevel}},
          {"Layers", {view.firstLayer, view.lastLayer}}};
}

/// Returns a list of exactly this many numbers.
template <size_t Count, typename Number>
std::array<Number, Count> numbersOf(const Fields& fields, const char* name) {
  const std::vector<uint64_t> values = fields.numbers(name);
  if (values.size() != Count)
    fields.refuse(name, "does not have " + std::to_string(Count) + " numbers");
  std::array<Number, Count> numbers;
  for (size_t index = 0; index < Count; ++index) {
    numbers[index] = static_cast<Number>(values[index]);
    if (numbers[index] != values[index])
      fields.refuse(name, "has a number that is too large");
  }
  return numbers;
}

TextureSampler samplerFromJson(const Fields& fields) {
  TextureSampler sampler{.address = numbersOf<3, uint32_t>(fields, "Address"),
                         .filter = fields.u32("Filter"),
                         .flags = fields.u32("Flags"),
                         .maxAnisotropy = fields.u32("MaxAnisotropy"),
                         .mipmapFilter = fields.u32("MipmapFilter")};
  const auto levels = numbersOf<3, uint32_t>(fields, "Levels");
  sampler.mipmapBias = levels[0];
  sampler.leastLevel = levels[1];
  sampler.greatestLevel = levels[2];
  sampler.border = numbersOf<4, uint32_t>(fields, "Border");
  return sampler;
}

TextureView viewFromJson(const Fields& fields) {
  const auto size = numbersOf<3, uint64_t>(fields, "Size");
  const auto levels = numbersOf<2, uint32_t>(fields, "Levels");
  const auto layers = numbersOf<2, uint32_t>(fields, "Layers");
  return {.format = fields.u32("Format"),
          .width = size[0],
          .height = size[1],
          .depth = size[2],
          .firstLevel = levels[0],
          .lastLevel = levels[1],
          .firstLayer = layers[0],
          .lastLayer = layers[1]};
}

/// An array's content is as large as its shape says, and has the level.
void checkSize(const Fields& fields, const TextureObject& object) {
  if (object.isArray() &&
      (object.memoryBytes == 0 || object.memoryBytes != bytesOf(partsOf(object.array))))
    fields.refuse("Bytes", "is not the size of the array's elements");
  if (object.level &&
      (object.source != TextureSource::Mipmapped || *object.level >= object.array.levels))
    fields.refuse("Level", "is not one of the array's");
}

TextureObject textureFromJson(const Fields& fields) {
  TextureObject object;
  object.handle = fields.address("Handle");
  object.isSurface = fields.boolean("Surface");
  object.memory = fields.address("Memory");
  object.memoryBytes = fields.u64("Bytes");
  object.pitchBytes = fields.u64("Pitch");
  object.source = sourceFromJson(fields);
  const auto size = numbersOf<3, uint64_t>(fields, "Size");
  object.array = {.width = size[0],
                  .height = size[1],
                  .depth = size[2],
                  .format = fields.u32("Format"),
                  .channels = fields.u32("Channels"),
                  .flags = fields.u32("Flags"),
                  .levels = fields.u32("Levels")};
  if (fields.has("Level"))
    object.level = fields.u32("Level");
  if (fields.has("Sampler"))
    object.sampler = samplerFromJson(fields.object("Sampler"));
  if (fields.has("View"))
    object.view = viewFromJson(fields.object("View"));
  checkSize(fields, object);
  return object;
}

} // namespace

json texturesToJson(const std::vector<TextureObject>& textures) {
  json list = json::array();
  for (const TextureObject& one : textures) {
    const ArrayShape& array = one.array;
    json& out = list.emplace_back(json{{"Handle", "0x" + toHex(one.handle)},
                                       {"Surface", one.isSurface},
                                       {"Source", sourceNameOf(one)},
                                       {"Memory", "0x" + toHex(one.memory)},
                                       {"Bytes", one.memoryBytes},
                                       {"Pitch", one.pitchBytes},
                                       {"Size", {array.width, array.height, array.depth}},
                                       {"Format", array.format},
                                       {"Channels", array.channels},
                                       {"Flags", array.flags},
                                       {"Levels", array.levels}});
    if (one.level)
      out["Level"] = *one.level;
    if (one.sampler)
      out["Sampler"] = samplerToJson(*one.sampler);
    if (one.view)
      out["View"] = viewToJson(*one.view);
  }
  return list;
}

std::vector<TextureObject> texturesFromJson(const Fields& launch) {
  std::vector<TextureObject> textures;
  for (const Fields& one : launch.objects("Textures"))
    textures.push_back(textureFromJson(one));
  return textures;
}

} // namespace mneme::artifact
