#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/base/error.h"
#include "tests/unit/base/temporary_directory.h"

using namespace mneme;
using namespace mneme::artifact;

namespace {

TextureObject layered() {
  TextureObject object{
      .handle = 7,
      .memory = 0x600000000000,
      .memoryBytes = 24 * 16 * 5 * 4,
      .array = {.width = 24, .height = 16, .depth = 5, .format = 0x20, .channels = 1, .flags = 3}};
  object.sampler = TextureSampler{.address = {1, 2, 3}, .filter = 1, .border = {~0u, 1, 2, 3}};
  object.view = TextureView{.format = 4, .width = 24, .lastLayer = 4};
  return object;
}

KernelRecord recordWith(const TextureObject& object) {
  KernelRecord record;
  record.kernelName = record.demangledName = "k";
  Instance& instance = record.instances[1];
  instance.prologue = "p.mneme";
  instance.epilogue = "e.mneme";
  instance.textures = {object};
  return record;
}

KernelRecord readBack(const std::string& json) {
  const mneme::test::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "0.json";
  std::ofstream(file) << json;
  return KernelRecord::load(file);
}
KernelRecord readBack(const KernelRecord& record) { return readBack(record.toJson()); }

/// A level of a mipmapped array.
TextureObject level() {
  TextureObject object{.isSurface = true,
                       .source = TextureSource::Mipmapped,
                       .memory = 64,
                       .array = {.width = 8, .format = 0x20, .channels = 1, .levels = 2},
                       .level = 1};
  object.memoryBytes = bytesOf(partsOf(object.array));
  return object;
}

/// Without its checksum.
std::string edited(std::string json, const std::string& from, const std::string& to) {
  const size_t at = json.find(from);
  REQUIRE(at != std::string::npos);
  json.replace(at, from.size(), to);
  const size_t checksum = json.find("\"Checksum\":");
  return json.erase(checksum, json.find(',', checksum) + 1 - checksum);
}

} // namespace

TEST_CASE("elements have the sizes of their formats") {
  CHECK(elementBytes(0x01, 4) == 4);
  CHECK(elementBytes(0x10, 2) == 4);
  CHECK(elementBytes(0x20, 4) == 16);
  CHECK(elementBytes(0xc0, 1) == 1);
  CHECK(elementBytes(0xc2, 4) == 4);
  CHECK(elementBytes(0xc3, 1) == 2);
  CHECK(elementBytes(0xc5, 4) == 8);
  CHECK(elementBytes(0xc6, 1) == 1);
  CHECK(elementBytes(0xcb, 4) == 8);
  CHECK(elementBytes(0x91, 4) == 0); // compressed
}

TEST_CASE("an array has its levels one behind the other") {
  const auto row = partsOf({.width = 10, .format = 0x20, .channels = 2});
  REQUIRE(row.size() == 1);
  CHECK(bytesOf(row) == 80);
  CHECK(row[0].rows == 1);
  const auto volume =
      partsOf({.width = 24, .height = 8, .depth = 4, .format = 1, .channels = 1, .levels = 3});
  REQUIRE(volume.size() == 3);
  CHECK(volume[1].offset == 1024); // 768 rounded up
  CHECK(volume[1].rowBytes == 12);
  CHECK(volume[1].slices == 2);
  CHECK(volume[2].rows == 2);
  const auto layers = partsOf(
      {.width = 8, .height = 8, .depth = 6, .format = 1, .channels = 1, .flags = 1, .levels = 2});
  CHECK(layers[1].slices == 6);
  CHECK(partsOf({.width = 8, .format = 0x91, .channels = 4}).empty());
  CHECK(partsOf({.width = ~0ull, .format = 1, .channels = 1}).empty());
}

TEST_CASE("textures of a launch survive saving and loading") {
  TextureObject linear{.handle = ~0ull,
                       .isSurface = false,
                       .source = TextureSource::Linear,
                       .memory = 64,
                       .memoryBytes = 128,
                       .array = {.format = 0x20, .channels = 4}};
  for (const TextureObject& object : {layered(), linear, level()}) {
    const KernelRecord loaded = readBack(recordWith(object));
    CHECK(loaded.instances.at(1).textures == std::vector<TextureObject>{object});
  }
}

TEST_CASE("a level of an array is a kind of its own, which readers of before refuse") {
  const std::string json = recordWith(level()).toJson();
  const std::string source = R"("Source":"level")";
  CHECK(json.find(source) != std::string::npos);
  const std::string before = edited(json, source, R"("Source":"mipmapped")");
  CHECK(readBack(before).instances.at(1).textures == std::vector<TextureObject>{level()});
  CHECK_THROWS_AS(readBack(edited(json, R"("Level":1,)", "")), Error);
}

TEST_CASE("a level that an array does not have is refused") {
  TextureObject object = layered();
  object.level = 0;
  CHECK_THROWS_AS(readBack(recordWith(object)), Error);
}

TEST_CASE("an array that is not as large as it says is refused") {
  TextureObject object = layered();
  object.memoryBytes += 4;
  CHECK_THROWS_AS(readBack(recordWith(object)), Error);
}
