#include <doctest/doctest.h>

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

/// Arrays of 64 bytes that all hold one value.
class FakeAccess final : public TextureAccess {
public:
  mutable char value = 1;

  std::optional<unsigned> device() const noexcept override { return 0; }
  Found describe(uint64_t handle, bool isSurface) const override {
    if (handle == 9)
      throw Error(ErrorCode::Unsupported, "its array is sparse");
    Found found;
    found.object = {.handle = handle,
                    .isSurface = isSurface,
                    .memoryBytes = 64,
                    .array = {.width = 64, .format = 1, .channels = 1}};
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
  live.add({.device = 0, .handle = 3, .array = &array});
  live.add({.device = 0, .handle = 1});
  live.add({.device = 0, .handle = 1, .isSurface = true});
  live.add({.device = 1, .handle = 2});
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

} // namespace mneme::record::test
