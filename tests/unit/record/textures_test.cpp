#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "runtime/core/base/error.h"
#include "runtime/recorder/launch_textures.h"

namespace mneme::record::test {
namespace {

Memory::Options onHost(uint64_t windowBytes) {
  Memory::Options options;
  options.makeBackend = [](unsigned) { return makeHostBackend(); };
  options.windowBytes = windowBytes;
  return options;
}

constexpr uint64_t kLarge = 65 << 20;

/// Arrays of 64 bytes that all hold one value.
class FakeAccess final : public TextureAccess {
public:
  mutable char value = 1;

  mutable int allocated = 0;
  uint64_t linear = 0; ///< plain memory

  std::optional<WorkPlace> place() const noexcept override { return WorkPlace(); }
  std::optional<TextureSampler> samplerOf(const void*) const noexcept override { return {}; }
  std::optional<TextureView> viewOf(const void*) const noexcept override { return {}; }
  void* allocate(uint64_t sizeBytes) const noexcept override {
    ++allocated;
    return std::malloc(sizeBytes);
  }
  void free(void* memory) const noexcept override {
    --allocated;
    std::free(memory);
  }
  Found describe(const LiveTextures::Object& wanted) const override {
    const uint64_t handle = wanted.handle;
    if (handle == 9)
      throw Error(ErrorCode::Unsupported, "its array is sparse");
    Found found;
    found.object = {.handle = handle,
                    .isSurface = wanted.isSurface,
                    .memoryBytes = handle == 8 ? kLarge : 64,
                    .array = {.width = 64, .format = 1, .channels = 1}};
    if (handle == 7) // of memory that was freed
      found.object.source = TextureSource::Linear;
    if (handle <= 6) {
      found.object.source = TextureSource::Linear;
      found.object.memory = linear;
    }
    found.array = reinterpret_cast<const void*>(0x1000 + handle / 10);
    return found;
  }
  void fetch(const Found& found, uint64_t memory) const override {
    std::memset(reinterpret_cast<void*>(memory), value, found.object.memoryBytes);
  }
};

std::vector<LiveTextures::Object> objects(std::initializer_list<uint64_t> handles) {
  std::vector<LiveTextures::Object> all;
  for (const uint64_t handle : handles)
    all.push_back({.handle = handle});
  return all;
}

} // namespace

TEST_CASE("objects live until they, their array or their device are gone") {
  LiveTextures live;
  char array = 0;
  live.add({.handle = 3, .array = &array});
  live.add({.handle = 1});
  live.add({.handle = 1, .isSurface = true});
  CHECK(live.of(0, false)[0].number != live.of(0, false)[1].number);
  live.add({.place = 1, .handle = 2});
  REQUIRE(live.of(0, false).size() == 2);
  CHECK(live.of(0, false)[0].handle == 1);
  live.remove(0, 1, false);
  CHECK(live.of(0, false).size() == 1);
  CHECK(live.of(0, true).size() == 1);
  live.forgetArray(nullptr); // destroys nothing
  CHECK(live.of(0, false).size() == 1);
  live.forgetArray(&array);
  CHECK(live.of(0, false).empty());
  live.forgetDevice(1);
  CHECK(live.of(1, false).empty());
}

TEST_CASE("objects of a part of an array end with the array, and know the part") {
  LiveTextures live;
  char whole = 0, level = 0, plane = 0;
  live.notePart(&level, {&whole, 2});
  live.notePart(&plane, {&whole});
  live.add({.handle = 1, .array = &level});
  live.add({.handle = 2, .array = &plane});
  live.add({.handle = 3});
  REQUIRE(live.of(0, false).size() == 3);
  CHECK(live.of(0, false)[0].part.whole == &whole);
  CHECK(live.of(0, false)[0].part.level == 2);
  CHECK_FALSE(live.of(0, false)[1].part.level);
  live.forgetArray(&whole);
  REQUIRE(live.of(0, false).size() == 1);
  live.add({.handle = 1, .array = &level}); // another array, at the same place
  CHECK(live.of(0, false)[0].part.whole == nullptr);
}

TEST_CASE("objects of a context of the program's own are those of that context") {
  LiveTextures live;
  char context = 0, array = 0;
  const WorkPlace own(0, &context);
  live.add({.handle = 1});
  live.add({.place = own, .handle = 1});
  live.notePart(&array, {&context, 1, own});
  live.remove(0, 1, false);
  CHECK(live.of(own, false).size() == 1);
  live.forgetDevice(0);
  CHECK(live.of(own, false).size() == 1);
  live.forgetContext(&context);
  CHECK(live.of(own, false).empty());
  live.add({.handle = 1, .array = &array});
  CHECK(live.of(0, false)[0].part.whole == nullptr);
}

TEST_CASE("the content of arrays is in memory while a launch is recorded") {
  Memory memory(onHost(64 << 20));
  const FakeAccess access;
  {
    LaunchTextures textures(memory, &access, 0);
    CHECK(textures.take(objects({11, 12, 25})).empty());
    CHECK(memory.regions(0).size() == 2); // 11 and 12 show one array
    const auto found = textures.descriptions();
    REQUIRE(found.size() == 3);
    CHECK(found[0].memory == found[1].memory);
    CHECK(found[0].memory != found[2].memory);
    textures.fetch();
    CHECK(*reinterpret_cast<const char*>(found[2].memory + 63) == 1);
    access.value = 2;
    textures.fetch();
    CHECK(*reinterpret_cast<const char*>(found[0].memory) == 2);
  }
  CHECK(memory.regions(0).empty());
}

TEST_CASE("of objects that cannot all be recorded none is") {
  Memory memory(onHost(64 << 20));
  const FakeAccess access;
  LaunchTextures textures(memory, &access, 0);
  CHECK(textures.take(objects({31})).empty());
  CHECK(textures.take(objects({11, 9})) == "its array is sparse");
  CHECK(textures.descriptions().size() == 1);
  CHECK(memory.regions(0).size() == 1);
}

TEST_CASE("an object that several kernels of a graph see is there once") {
  Memory memory(onHost(64 << 20));
  const FakeAccess access;
  LaunchTextures textures(memory, &access, 0);
  CHECK(textures.take(objects({11, 25})).empty());
  CHECK(textures.take(objects({25, 31})).empty());
  CHECK(textures.takeIfSmall(objects({11, 41}), 5) == 0);
  std::vector<uint64_t> handles;
  for (const TextureObject& one : textures.descriptions())
    handles.push_back(one.handle);
  CHECK(handles == std::vector<uint64_t>{11, 25, 31, 41});
  CHECK(memory.regions(0).size() == 4);
}

TEST_CASE("objects that a launch hardly sees are recorded one by one, if they are small") {
  Memory memory(onHost(256 << 20));
  const FakeAccess access;
  LaunchTextures textures(memory, &access, 0);
  CHECK(textures.takeIfSmall(objects({11, 9, 8, 7, 25}), 5) == 2);
  CHECK(textures.descriptions().size() == 2);
  CHECK(textures.takeIfSmall(objects({31, 41, 51}), 4) == 1); // together
  CHECK(textures.takeIfSmall(objects({31, 41}), 4) == 0);     // they are there
  CHECK(textures.take(objects({7}), false).empty());
  CHECK(textures.descriptions().size() == 4);
  CHECK(textures.take(objects({7})).empty());
  CHECK(textures.descriptions().size() == 5);
}

TEST_CASE("objects that a launch hardly sees do not bring large memory along") {
  Memory memory(onHost(256 << 20));
  FakeAccess access;
  const auto show = [&](uint64_t bytes) {
    access.linear =
        reinterpret_cast<uint64_t>(memory.allocate(bytes, artifact::RegionKind::Allocation, 0)) +
        64;
  };
  LaunchTextures textures(memory, &access, 0);
  show(1 << 20);
  CHECK(textures.takeIfSmall(objects({6}), 5) == 0);
  show(kLarge);
  CHECK(textures.takeIfSmall(objects({5}), 5) == 1);
  CHECK(textures.take(objects({5})).empty());        // an argument names it
  CHECK(textures.takeIfSmall(objects({4}), 5) == 0); // and another shows the same
  LaunchTextures others(memory, &access, 0);
  show(40 << 20);
  CHECK(others.takeIfSmall(objects({3}), 5) == 0);
  show(40 << 20);
  CHECK(others.takeIfSmall(objects({2}), 5) == 1); // together with the first it is large
}

TEST_CASE("the content of arrays that no object shows any more stays as it was fetched last") {
  Memory memory(onHost(64 << 20));
  const FakeAccess access;
  LaunchTextures textures(memory, &access, 0);
  CHECK(textures.take(objects({11, 12, 25, 31})).empty()); // 11 and 12 show one array
  textures.fetch();
  std::vector<LiveTextures::Object> live = objects({12, 25, 31});
  live[1].number = 7; // another one with its handle
  textures.noteLive(live);
  access.value = 2;
  textures.fetch();
  std::vector<char> content;
  for (const TextureObject& one : textures.descriptions())
    content.push_back(*reinterpret_cast<const char*>(one.memory));
  CHECK(content == std::vector<char>{2, 2, 1, 2});
}

TEST_CASE("in a context of the program's own the content of arrays is in its memory") {
  Memory memory(onHost(64 << 20));
  const FakeAccess access;
  char context = 0;
  const WorkPlace own(0, &context);
  {
    LaunchTextures textures(memory, &access, own);
    CHECK(textures.take(objects({11})).empty());
    CHECK(memory.regions(0).empty());
    CHECK(memory.regions(own).size() == 1);
    CHECK(access.allocated == 1);
  }
  CHECK(memory.regions(own).empty());
  CHECK(access.allocated == 0);
  LaunchTextures others(memory, &access, own);
  CHECK(others.take(objects({11})).empty());
  others.abandon();
  CHECK(access.allocated == 1);
}

} // namespace mneme::record::test
