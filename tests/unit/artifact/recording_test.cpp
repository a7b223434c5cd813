#include <doctest/doctest.h>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

KernelRecord loadText(const std::string& text) {
  const TemporaryDirectory directory;
  writeFileAtomically(directory.path() / "1.json", text);
  return KernelRecord::load(directory.path() / "1.json");
}

std::string refusal(const std::string& text) {
  try {
    loadText(text);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::ArtifactCorrupt);
    return error.what();
  }
  return "accepted";
}

const std::string kForeign =
    R"json({"StaticHash": 18446744073709551615, "VAddr": "0x0000700000000000", "VASize": 4294967296,
        "KernelName": "_Z1kPf", "DemangledName": "k(float*)", "Modules": ["RecordedIR_1.bc"],
        "BinaryBlobs": [], "ArgNames": ["p", "n"], "Specializations": [false, true],
        "instances": {"42": {"GridDims": {"x":1,"y":2,"z":3}, "BlockDims": {"x":32,"y":1,"z":1},
          "SharedMem": 16, "Args": [true, false], "Occurrences": 3,
          "Prologue": "DeviceState.prologue.1.42.mneme",
          "Epilogue": "DeviceState.epilogue.1.42.mneme"}}})json";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

} // namespace

TEST_CASE("a record survives saving and loading") {
  KernelRecord record = kernelRecord(0xfedcba9876543210);
  record.modules = {"RecordedIR_1.bc"};
  record.moduleHashes = {"00"};
  record.place = {.file = "src/advec_mom.cpp", .line = 120, .endLine = 131};
  Instance instance;
  instance.dynamicHash = ~0ull;
  instance.grid = {1, 2, 3};
  instance.isCooperative = true;
  instance.labels = {"step", "advection"};
  instance.cluster = {2, 4, 1};
  instance.sharedCarveout = 50;
  instance.cacheConfig = CacheConfig::L1;
  instance.part = {.multiprocessors = 32, .of = 132};
  instance.limits = {.stackBytes = 65536, .ownLaunches = 4096};
  instance.heap = {0x205400000, 8 << 20};
  instance.occurrences = 17;
  instance.prologue = "p.mneme";
  instance.epilogue = "e.mneme";
  record.instances[instance.dynamicHash] = instance;
  const KernelRecord loaded = loadText(record.toJson());
  CHECK(loaded.toJson() == record.toJson());
  CHECK(loaded.staticHash == record.staticHash);
  CHECK(loaded.place.file == "src/advec_mom.cpp");
  CHECK(loaded.place.line == 120);
  CHECK(loaded.place.endLine == 131);
  CHECK(loaded.args.at(1).isSpecializable);
  CHECK(loaded.args.at(0).kind == ArgKind::Pointer);
  CHECK(loaded.instances.at(~0ull).isCooperative);
  CHECK(loaded.instances.at(~0ull).labels == std::vector<std::string>{"step", "advection"});
  CHECK(loaded.instances.at(~0ull).grid.z == 3);
  CHECK(loaded.instances.at(~0ull).cluster.y == 4);
  CHECK(loaded.instances.at(~0ull).sharedCarveout == 50);
  CHECK(loaded.instances.at(~0ull).cacheConfig == CacheConfig::L1);
  CHECK(loaded.instances.at(~0ull).part.multiprocessors == 32);
  CHECK(loaded.instances.at(~0ull).part.of == 132);
  CHECK(loaded.instances.at(~0ull).limits == instance.limits);
  CHECK(loaded.instances.at(~0ull).heap == instance.heap);
  CHECK(loaded.optionsJson == record.optionsJson);
}

TEST_CASE("records of the existing tools are accepted") {
  const KernelRecord record = loadText(kForeign);
  CHECK(record.staticHash == ~0ull);
  CHECK(record.windowAddress == 0x700000000000);
  CHECK(record.args.size() == 2);
  CHECK(record.instances.at(42).occurrences == 3);
  CHECK(record.instances.at(42).cluster.x == 1);
  CHECK(record.toJson().find("ClusterDims") == std::string::npos);
  CHECK(record.toJson().find("SharedCarveout") == std::string::npos);
  CHECK(record.toJson().find("CacheConfig") == std::string::npos);
}

TEST_CASE("an absolute path into the record's own directory is taken as a name") {
  const TemporaryDirectory directory;
  const std::string name = "DeviceState.prologue.1.42.mneme";
  writeFileAtomically(directory.path() / "1.json",
                      replaced(kForeign, name, (directory.path() / name).string()));
  CHECK(KernelRecord::load(directory.path() / "1.json").instances.at(42).prologue == name);
}

TEST_CASE("a record may name files of another directory, as one does that a script has written") {
  const TemporaryDirectory directory;
  const std::filesystem::path json = directory.path() / "1.json";
  for (const std::string place : {"../x/", "/elsewhere/", "sub/"}) {
    writeFileAtomically(json, replaced(kForeign, "RecordedIR", place + "RecordedIR"));
    CHECK(KernelRecord::load(json).modules.at(0) == place + "RecordedIR_1.bc");
  }
  const std::string own = "../" + directory.path().filename().string() + "/";
  writeFileAtomically(json, replaced(kForeign, "RecordedIR", own + "RecordedIR"));
  CHECK(KernelRecord::load(json).modules.at(0) == "RecordedIR_1.bc");
}

TEST_CASE("what is wrong with a record is named") {
  CHECK(refusal("").find("empty") != std::string::npos);
  CHECK(refusal("[1]").find("not a JSON object") != std::string::npos);
  CHECK(refusal(kForeign.substr(0, 300)).find("truncated") != std::string::npos);
  CHECK(refusal(replaced(kForeign, "VASize", "VaSize")).find("\"VASize\" is missing") !=
        std::string::npos);
  CHECK(refusal(replaced(kForeign, "\"SharedMem\": 16", "\"SharedMem\": -1"))
            .find("instances.42.SharedMem") != std::string::npos);
  CHECK(refusal(replaced(kForeign, "\"x\":32", "\"x\":4294967296")).find("too large") !=
        std::string::npos);
  for (const char* cluster : {"0", "1025", "4294967295", "\"2\""})
    CHECK(refusal(replaced(kForeign, "\"SharedMem\": 16",
                           "\"SharedMem\": 16, \"ClusterDims\": {\"x\":" + std::string(cluster) +
                               ",\"y\":1,\"z\":1}"))
              .find("ClusterDims") != std::string::npos);
  CHECK(
      refusal(replaced(kForeign, "\"SharedMem\": 16", "\"SharedMem\": 16, \"SharedCarveout\": 101"))
          .find("SharedCarveout") != std::string::npos);
  CHECK(refusal(replaced(kForeign, "\"SharedMem\": 16", "\"SharedMem\": 16, \"CacheConfig\": \"\""))
            .find("is not PreferShared, PreferL1 or PreferEqual") != std::string::npos);
  CHECK(refusal(replaced(kForeign, "{\"StaticHash\"", "{\"ArgKinds\": [\"word\"], \"StaticHash\""))
            .find("unknown kind 'word'") != std::string::npos);
  CHECK(refusal(replaced(kForeign, "\"42\"", "\"4x\"")).find("decimal") != std::string::npos);
  CHECK(refusal(replaced(kForeign, "0x0000700000000000", "0xzz")).find("hexadecimal") !=
        std::string::npos);
  CHECK(refusal(replaced(kForeign, "RecordedIR_1.bc", "/etc/")).find("is not a file") !=
        std::string::npos);
  CHECK(refusal(replaced(kForeign, "RecordedIR_1.bc", "..")).find("is not a file") !=
        std::string::npos);
  CHECK(refusal(replaced(kForeign, "{\"StaticHash\"", "{\"FormatVersion\": 99, \"StaticHash\""))
            .find("version 99") != std::string::npos);
}

TEST_CASE("a changed record is noticed") {
  KernelRecord record = kernelRecord(1);
  CHECK(refusal(replaced(record.toJson(), "4294967296", "4294967297")).find("checksum") !=
        std::string::npos);
}

TEST_CASE("a changed module is noticed") {
  const TemporaryDirectory directory;
  writeSmallRecording(directory.path(), 1, 2, noise(100, 1), noise(100, 2));
  const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
  CHECK(record.readModule(directory.path(), 0) == noise(500, 1));
  CHECK_THROWS_AS(record.readModule(directory.path(), 1), Error);
  writeFileAtomically(directory.path() / record.modules[0], noise(500, 9));
  CHECK_THROWS_WITH_AS(record.readModule(directory.path(), 0), doctest::Contains("damaged"), Error);
}

} // namespace mneme::artifact::test
