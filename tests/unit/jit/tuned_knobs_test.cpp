// Every knob of runtime/core/abi/knobs.def that files of tuned kernels have is read from them, and
// reaches the request to the compiler and what binaries are told apart by; one that is forgotten
// fails by its key.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/jit/request.h"

using namespace mneme;
using namespace mneme::jit;

namespace {

struct Knob {
  std::string key;
  nlohmann::json plain, changed;
};

constexpr uint32_t kThreads = 64;

template <typename Value> Knob knob(const std::string& key) {
  if constexpr (std::is_same_v<Value, bool>)
    return {key, false, true};
  else if constexpr (std::is_same_v<Value, std::string>)
    return {key, "default<O1>", "default<O2>"};
  else
    return {key, key == "TunedMaxThreads" ? kThreads : 1, 2};
}

std::vector<Knob> knobs() {
  std::vector<Knob> all;
#define MNEME_KNOB(type, member, key, otherwise, high, deployed)                                   \
  if (*deployed)                                                                                   \
    all.push_back(knob<type>(deployed));
#include "runtime/core/abi/knobs.def"
  return all;
}

/// The hash of an entry that sets launch bounds, which some knobs need, and the given key.
uint64_t hashWith(const std::string& key, const nlohmann::json& value) {
  nlohmann::json entry = {
      {"LaunchBounds", true}, {"MinBlocksPerSM", 3}, {"TunedMaxThreads", kThreads}};
  entry[key] = value;
  const tuned::File file = tuned::parseFile(nlohmann::json{{"k", entry}}.dump(), "tuned.json");
  REQUIRE(file.warnings.empty());
  const tuned::Variant& variant = file.kernels.at("k").variants.at(0);

  embed::KernelBlob blob;
  blob.args = {{.name = "n", .sizeBytes = 4, .kind = ArgKind::Integer, .isSpecializable = true}};
  const auto shared = std::make_shared<const embed::KernelBlob>(std::move(blob));
  const KernelCode code{.name = "k", .blob = shared, .modules = {shared}};
  BinarySpec spec{.target = "sm_90", .dims = {{2, 1, 1}, {kThreads, 1, 1}}};
  for (const ArgPath& path : specializedArgs(variant, *shared))
    spec.values.push_back({.index = path.index, .bytes = std::vector<std::byte>(4)});
  return requestHash(code, makeRequest(code, variant, spec));
}

} // namespace

TEST_CASE("every knob of a file of tuned kernels reaches the request") {
  CHECK(knobs().size() >= 8);
  for (const Knob& knob : knobs()) {
    CAPTURE(knob.key);
    CHECK(hashWith(knob.key, knob.changed) != hashWith(knob.key, knob.plain));
  }
}

TEST_CASE("a file of tuned kernels has no number that the list of knobs does not allow") {
  const auto isRead = [](const std::string& key, const nlohmann::json& value) {
    const nlohmann::json text = {{"k", {{key, value}}}};
    return tuned::parseFile(text.dump(), "tuned.json").warnings.empty();
  };
#define MNEME_KNOB(type, member, key, otherwise, high, deployed)                                   \
  if (std::is_same_v<type, uint32_t> && *deployed && high != UINT32_MAX) {                         \
    CAPTURE(deployed);                                                                             \
    CHECK(isRead(deployed, uint64_t{high}));                                                       \
    CHECK_FALSE(isRead(deployed, uint64_t{high} + 1));                                             \
  }
#include "runtime/core/abi/knobs.def"
}
