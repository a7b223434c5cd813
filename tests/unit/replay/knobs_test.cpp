// Every knob of runtime/core/abi/knobs.def arrives wherever a configuration goes on its way to the
// compiler; one that is forgotten somewhere fails by its name.
#include <algorithm>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/messages.h"
#include "runtime/replay/build.h"

using namespace mneme;
using namespace mneme::replay;

namespace {

struct Knob {
  std::string key;
  std::function<void(Configuration&)> change;
};

template <typename Value> void changeValue(Value& value, uint64_t high) {
  if constexpr (std::is_same_v<Value, bool>)
    value = !value;
  else if constexpr (std::is_same_v<Value, std::string>)
    value = "default<O1>";
  else
    value = value == 64 ? 128 : static_cast<Value>(std::min<uint64_t>(64, high));
}

std::vector<Knob> knobs() {
  std::vector<Knob> all;
#define MNEME_KNOB(type, member, key, otherwise, high, deployed)                                   \
  all.push_back({key, [](Configuration& c) { changeValue(c.member, high); }});
#include "runtime/core/abi/knobs.def"
  for (Knob& knob : all)
    if (knob.key == "specialized_args")
      knob.change = [](Configuration& c) { c.specializedArgs = "1"; };
  return all;
}

compile::Request requestOf(const Configuration& configuration) {
  artifact::KernelRecord record;
  record.kernelName = "kernel";
  record.args.resize(3);
  record.args[0].isSpecializable = record.args[1].isSpecializable = true;
  const std::vector<std::byte> value = {std::byte{7}};
  return makeRequest(record, {{std::byte{1}}}, {value, value, value}, {.name = "sm_90"},
                     configuration, {});
}

/// Some have an effect only where launch bounds are set, or arguments become constants.
Configuration plainFor(const std::string& key) {
  Configuration configuration;
  configuration.grid = configuration.block = {1, 1, 1};
  configuration.setLaunchBounds = key == "max_threads" || key == "min_blocks_per_sm";
  configuration.specialize = key == "specialized_args";
  return configuration;
}

} // namespace

TEST_CASE(
    "a carve-out that is asked for takes the place of what the program prefers of the cache") {
  artifact::Instance instance;
  instance.sharedCarveout = 75;
  instance.cacheConfig = CacheConfig::L1;
  Configuration configuration;
  CHECK(launchShape(instance, configuration).cacheConfig == CacheConfig::L1);
  CHECK(launchShape(instance, configuration).sharedCarveout == 75);
  configuration.sharedCarveout = 50;
  CHECK(launchShape(instance, configuration).cacheConfig == CacheConfig::None);
  CHECK(launchShape(instance, configuration).sharedCarveout == 50);
}

TEST_CASE("every knob reaches the request, its message, and what results are known by") {
  for (const Knob& knob : knobs()) {
    CAPTURE(knob.key);
    const Configuration plain = plainFor(knob.key);
    Configuration changed = plain;
    knob.change(changed);
    CHECK(keyOf(changed, {}) != keyOf(plain, {}));
    CHECK(toJson(configurationFromJson(toJson(changed))) == toJson(changed));
    CHECK(toJson(changed) != toJson(plain));

    const compile::Request request = requestOf(changed);
    CHECK(compile::cacheKey(request, "id") != compile::cacheKey(requestOf(plain), "id"));
    const std::string packed = compile::packRequest(request);
    const auto unpacked = compile::unpackRequest(std::as_bytes(std::span(packed)));
    REQUIRE(unpacked);
    CHECK(compile::cacheKey(*unpacked, "id") == compile::cacheKey(request, "id"));
  }
}

TEST_CASE("arguments that become constants are told by their numbers") {
  Configuration configuration = plainFor("specialized_args");
  const auto indices = [&](const std::string& text) {
    configuration.specializedArgs = text;
    std::string found;
    for (const ArgValue& arg : requestOf(configuration).specializedArgs)
      found += std::to_string(arg.index);
    return found;
  };
  CHECK(indices("") == "01");
  CHECK(indices("1") == "1");
  CHECK(indices("0,1") == "01");
  for (const char* wrong : {"2", "3", "99999999999", "x", "0,", ",0", "0 1", "-1"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(indices(wrong), doctest::Contains("specialized_args"), Error);
  }
  configuration.specialize = false;
  CHECK(indices("1").empty());
}

TEST_CASE("members of structures become constants by their offsets, or by their names") {
  artifact::KernelRecord record;
  record.kernelName = "kernel";
  record.args.resize(2);
  record.args[0].isSpecializable = true;
  record.args[1].fields = {{.type = "ptr", .offset = 0, .sizeBytes = 8, .kind = ArgKind::Pointer},
                           {.name = "s.n",
                            .type = "i32",
                            .offset = 8,
                            .sizeBytes = 4,
                            .kind = ArgKind::Integer,
                            .isSpecializable = true}};
  std::vector<std::byte> structure(16);
  structure[8] = std::byte{42};
  Configuration configuration = plainFor("specialized_args");
  const auto found = [&](const std::string& text) {
    configuration.specializedArgs = text;
    std::string values;
    for (const ArgValue& arg : makeRequest(record, {{std::byte{1}}}, {{std::byte{7}}, structure},
                                           {.name = "sm_90"}, configuration, {})
                                   .specializedArgs)
      values += std::to_string(arg.index) + (arg.offset ? '+' + std::to_string(*arg.offset) : "") +
                '=' + std::to_string(std::to_integer<int>(arg.bytes[0])) + '/' +
                std::to_string(arg.bytes.size()) + ' ';
    return values;
  };
  CHECK(found("") == "0=7/1 1+8=42/4 ");
  CHECK(found("1+8") == "1+8=42/4 ");
  CHECK(found("1.s.n,0") == "1+8=42/4 0=7/1 ");
  for (const char* wrong : {"1", "1+0", "1+4", "1+", "1.n", "1.", "0+8", "1+8.s.n", "1 +8"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(found(wrong), doctest::Contains("specialized_args"), Error);
  }
}
