#include <doctest/doctest.h>

#include "support.h"

using namespace mneme;
using namespace mneme::device;
using test::failureOf;
using test::openFake;

namespace {

/// A device with memory, and objects that show it.
struct Textured {
  std::unique_ptr<Device> device = openFake();
  uint64_t memory;
  std::vector<TextureObject> wanted;

  Textured() : memory(device->reserve(0, 2 << 20)) { device->map(memory, 2 << 20); }

  void want(uint64_t handle, uint64_t offset, bool isSurface = false) {
    TextureObject object{.handle = handle,
                         .isSurface = isSurface,
                         .memory = memory + offset,
                         .memoryBytes = 32,
                         .array = {.width = 4, .height = 2, .format = 0x20, .channels = 1}};
    wanted.push_back(object);
  }
  uint32_t at(uint64_t offset) const {
    uint32_t value = 0;
    device->copyToHost(&value, memory + offset, sizeof(value));
    return value;
  }
  void set(uint64_t offset, uint32_t value) const {
    device->copyToDevice(memory + offset, &value, sizeof(value));
  }
};

} // namespace

TEST_CASE("objects get the recorded handles, whatever their order") {
  Textured textured;
  textured.want(9, 0);
  textured.want(2, 512, true);
  textured.want(5, 0);
  for (int time = 0; time < 2; ++time) {
    const auto objects = textured.device->makeTextures(textured.wanted);
    REQUIRE(objects);
    CHECK(objects->handles() == std::vector<uint64_t>{9, 2, 5});
  }
}

TEST_CASE("a handle that is not granted is another") {
  Textured textured;
  textured.want(1, 0);
  const auto first = textured.device->makeTextures(textured.wanted);
  textured.wanted[0].handle = uint64_t{1} << 40;
  const auto second = textured.device->makeTextures(textured.wanted);
  CHECK(first->handles() == std::vector<uint64_t>{1});
  CHECK(second->handles() == std::vector<uint64_t>{2});
}

TEST_CASE("only arrays that kernels can write are filled and read again") {
  Textured textured;
  textured.want(1, 0);
  textured.want(2, 512, true);
  const auto objects = textured.device->makeTextures(textured.wanted);
  textured.set(28, 7);
  textured.set(512, 8);
  objects->load(false);
  textured.set(28, 0);
  textured.set(512, 0);
  objects->store();
  CHECK(textured.at(28) == 0);
  CHECK(textured.at(512) == 8);
  textured.set(512, 9);
  objects->load(false);
  textured.set(512, 0);
  objects->store();
  CHECK(textured.at(512) == 9);
}

TEST_CASE("an array that cannot be made is an error") {
  Textured textured;
  const test::Failing failing("cuArray3DCreate=2");
  textured.want(1, 0);
  const auto failure = failureOf([&] { textured.device->makeTextures(textured.wanted); });
  CHECK(failure.says("making an array"));
}

TEST_CASE("an object shows one level of an array with mipmaps, which is filled as a whole") {
  Textured textured;
  textured.want(1, 0);
  textured.want(2, 0, true);
  for (TextureObject& object : textured.wanted) {
    object.source = TextureSource::Mipmapped;
    object.array.levels = 2;
    object.memoryBytes = bytesOf(partsOf(object.array));
  }
  textured.wanted[1].level = 1;
  const auto objects = textured.device->makeTextures(textured.wanted);
  textured.set(28, 7);
  textured.set(512, 8); // the begin of the second level
  objects->load(false);
  textured.set(28, 0);
  textured.set(512, 0);
  objects->store();
  CHECK(textured.at(28) == 7);
  CHECK(textured.at(512) == 8);
}
