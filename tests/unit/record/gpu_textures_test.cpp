// Textures and surfaces in a process whose runtime is a vendor's.
#include "tests/unit/record/gpu_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace mneme::record::test {

TEST_CASE("texture objects of a launch are recorded with the content of their array") {
  for (const char* mode : {"textures", "textures-own"}) {
    CAPTURE(mode);
    const Run alone = runOnGpu(mode, false), recorded = runOnGpu(mode, true);
    CAPTURE(recorded.said);
    CHECK(recorded.output == alone.output);
    CHECK(wholeInstances(recorded) == 4);
    CHECK(recorded.said.find("(textures): its replays may differ; it has no texture") !=
          std::string::npos);
    const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
    size_t objects = 0;
    for (const auto& [hash, instance] : record.instances) {
      objects += instance.textures.size();
      if (instance.textures.empty())
        continue;
      const TextureObject& object = instance.textures.front();
      CHECK(object.array.height == 4);
      CHECK_FALSE(object.view.has_value());
      if (!object.isSurface) {
        REQUIRE(object.sampler);
        CHECK(object.sampler->address == std::array<uint32_t, 3>{3, 1, 1});
        CHECK(object.sampler->border == std::array<uint32_t, 4>{0x3f000000, 0, 0, 0x40000000});
      }
      CHECK(object.memory == instance.textures.back().memory);
      std::array<std::byte, 128> content{};
      readAt(recorded, instance, object.memory, content);
      CHECK(content[0] == std::byte{1});
      CHECK(content[127] == std::byte{128});
    }
    CHECK(objects == 3); // both, then the surface
  }
}

TEST_CASE("an array with levels is recorded once, and objects of destroyed levels are not") {
  const Run alone = runOnGpu("textures-levels", false),
            recorded = runOnGpu("textures-levels", true);
  CAPTURE(recorded.said);
  CHECK(recorded.output == alone.output);
  CHECK(wholeInstances(recorded) == 4);
  const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
  size_t objects = 0;
  for (const auto& [hash, instance] : record.instances) {
    objects += instance.textures.size();
    if (instance.textures.size() != 2)
      continue;
    const TextureObject &texture = instance.textures[0], &surface = instance.textures[1];
    CHECK(texture.array.levels == 3);
    CHECK(texture.array == surface.array);
    CHECK(texture.memory == surface.memory);
    CHECK_FALSE(texture.level);
    CHECK(surface.level == 1);
    std::array<std::byte, 544> content{};
    readAt(recorded, instance, texture.memory, content);
    CHECK(content[127] == std::byte{128});
    CHECK(content[512] == std::byte{1}); // the second level
  }
  CHECK(objects == 2);
}

TEST_CASE("kernels of a kept graph are recorded with the textures of all, and one memory") {
  for (const char* mode : {"textures-graph", "textures-graph-own"}) {
    CAPTURE(mode);
    const Run alone = runOnGpu(mode, false), recorded = runOnGpu(mode, true, "MNEME_GRAPHS=kept");
    CAPTURE(recorded.said);
    CHECK(recorded.output == alone.output);
    CHECK(recorded.said.find("kept 1 graph of 2 kernels as a sequence") != std::string::npos);
    CHECK(recorded.said.find("may differ; it has no texture") != std::string::npos); // before it
    CHECK(wholeInstances(recorded) == 5);
    std::map<std::byte, std::vector<TextureObject>> found; // by what the array held
    for (const char* file : {"1.json", "2.json"})
      for (const auto& [hash, instance] :
           artifact::KernelRecord::load(recorded.directory / "data" / file).instances)
        if (instance.textures.empty()) { // memory is given back behind the graph
          const auto prologue =
              artifact::Snapshot::open(recorded.directory / "data" / instance.prologue);
          CHECK(std::ranges::none_of(prologue.regions(), [](const artifact::Region& region) {
            return region.sizeBytes == 128;
          }));
        } else {
          std::array<std::byte, 128> content{};
          readAt(recorded, instance, instance.textures.front().memory, content);
          found[content[100]] = instance.textures;
        }
    REQUIRE(found.size() == 2);
    CHECK(found.contains(std::byte{101})); // before the first kernel
    REQUIRE(found.contains(std::byte{7})); // before the second
    CHECK(found[std::byte{7}].size() == 4);
    CHECK(found[std::byte{7}] == found[std::byte{101}]);
  }
}

} // namespace mneme::record::test
