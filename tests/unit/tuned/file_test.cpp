#include <doctest/doctest.h>

#include <ctime>
#include <random>

#include "runtime/core/base/error.h"
#include "runtime/jit/tuned/file.h"

using namespace mneme;
using namespace mneme::tuned;

namespace {

/// As in docs/tuned-kernels.md, with a second variant.
const std::string kSample = R"json({
  "stencil": {
    "CodeGen": "rtc", "LaunchBounds": true, "SpecializeArgs": false, "SpecializeDims": false,
    "SpecializeDimsRange": false, "OptLevel": 1, "Pipeline": "default<O3>", "CodeGenOptLevel": 3,
    "TunedMaxThreads": 256, "MinBlocksPerSM": 2,
    "Mneme": {
      "Version": 1, "DemangledName": "stencil(double const*, double*, int, int)",
      "StaticHash": "8c0f4d6a1b2e3f70",
      "Variants": [
        { "LaunchBounds": true, "SpecializeArgs": true, "SpecializeDims": false,
          "Pipeline": "function(sroa)", "CodeGenOptLevel": 2, "TunedMaxThreads": 255,
          "MinBlocksPerSM": 2, "MaxRegisters": 64, "SpecializedArgs": [3, 2, 3],
          "Match": { "Arch": "sm_90", "Device": "NVIDIA H200",
            "GridDim": {"x": 128, "y": 64, "z": 1}, "BlockDim": {"x": 16, "y": 8, "z": 2},
            "SharedMem": 48,
            "Args": [{"Index": 2, "Name": "nx", "Type": "i32", "Bytes": "00080000", "Value": 2048},
                     {"Index": 4, "Name": "dt", "Type": "double", "Bytes": "000000000000f03f"}] },
          "Guards": ["Arch", "Arg:2"],
          "Launch": {"Rule": "cover", "GridDim": {"x": 64, "y": 256, "z": 1},
                     "BlockDim": {"x": 32, "y": 8, "z": 1}},
          "BaselineNs": 51234, "TunedNs": 40110,
          "Gain": {"Ratio": 1.277, "Low": 1.269, "High": 1.284}, "Weight": 0.75 },
        { "Pipeline": "default<O1>" } ]
    }
  }
})json";

/// kSample with one piece of text replaced.
std::string sampleWith(const std::string& what, const std::string& by) {
  std::string text = kSample;
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// The one warning of the file, which leaves `variants` of the kernel.
std::string warningOf(const std::string& text, size_t variants) {
  const File file = parseFile(text, "t.json");
  REQUIRE(file.warnings.size() >= 1);
  CHECK((file.kernels.empty() ? 0 : file.kernels.begin()->second.variants.size()) == variants);
  return file.warnings[0];
}

} // namespace

TEST_CASE("a variant is read with all it says") {
  const File file = parseFile(kSample, "t.json");
  CHECK(file.warnings.empty());
  REQUIRE(file.kernels.contains("stencil"));
  const Kernel& kernel = file.kernels.at("stencil");
  REQUIRE(kernel.variants.size() == 2);
  const Variant& first = kernel.variants[0];
  CHECK(first.launchBounds);
  CHECK(first.specializeArgs);
  CHECK(!first.specializeDims);
  CHECK(first.pipeline == "function(sroa)");
  CHECK(first.codegenOptLevel == 2);
  CHECK(first.tunedMaxThreads == 255);
  CHECK(first.minBlocksPerSm == 2);
  CHECK(first.maxRegisters == 64);
  CHECK(first.specializedArgs == std::vector<ArgPath>{{2}, {3}});
  CHECK(first.match.arch == "sm_90");
  CHECK((*first.match.grid == mneme_dim3{128, 64, 1}));
  CHECK((*first.match.block == mneme_dim3{16, 8, 2}));
  CHECK(first.match.sharedBytes == 48);
  REQUIRE(first.match.args.size() == 2);
  CHECK(first.match.args[0].index == 2);
  CHECK(first.match.args[0].kind == ArgKind::Integer);
  CHECK(first.match.args[0].bytes ==
        std::vector<std::byte>{std::byte{0}, std::byte{8}, std::byte{0}, std::byte{0}});
  CHECK(first.match.args[1].kind != ArgKind::Integer);
  CHECK(first.match.args[1].bytes.size() == 8);
  CHECK(first.guards.arch);
  CHECK(!first.guards.grid);
  CHECK(first.guards.args == std::vector<ArgPath>{{2}});
  REQUIRE(first.launch.has_value());
  CHECK(first.launch->rule == LaunchRule::Cover);
  CHECK((first.launch->matched.grid == mneme_dim3{128, 64, 1}));
  CHECK((first.launch->tuned.block == mneme_dim3{32, 8, 1}));
  CHECK(first.weight == 0.75);
  CHECK(first.staticHash == 0x8c0f4d6a1b2e3f70ull);
}

TEST_CASE("variants of one name are for code of their own") {
  const File file = parseFile(R"({"k": {"Mneme": {"StaticHash": "00000000000000aa", "Variants": [
      {"Weight": 1}, {"Weight": 2, "StaticHash": "00000000000000bb"}, {"Weight": 3}]}},
      "any": {}})",
                              "t");
  const Kernel& kernel = file.kernels.at("k");
  REQUIRE(kernel.variantsFor(0xaa, 0).size() == 2);
  CHECK(kernel.variantsFor(0xaa, 0)[1].weight == 3);
  REQUIRE(kernel.variantsFor(0xbb, 0).size() == 1);
  CHECK(kernel.variantsFor(0xbb, 0)[0].weight == 2);
  CHECK(kernel.variantsFor(0xcc, 0).empty());

  // The same code under another name; 0 is unknown code.
  const auto moved = tuned::parseFile(R"({"old": {"Mneme": {"Variants": [
      {"StaticHash": "00000000000000aa", "CodeHash": "00000000000000c0"},
      {"StaticHash": "00000000000000ab", "CodeHash": "0000000000000000"}]}}})",
                                      "tuned.json");
  CHECK(moved.variantsFor("new", 0xbb, 0xc0).variants.size() == 1);
  CHECK(moved.variantsFor("new", 0xbb, 0xc0).otherName == "old");
  CHECK(moved.variantsFor("new", 0xbb, 0).variants.empty());
  CHECK(moved.variantsFor("old", 0xaa, 0).variants.size() == 1);
  CHECK(moved.variantsFor("old", 0xcc, 0).variants.empty());
  CHECK(kernel.hashesText() == "00000000000000aa, 00000000000000bb");
  CHECK(file.kernels.at("any").variantsFor(0xcc, 0).size() == 1);
}

TEST_CASE("hashes in names of kernels count where code counts") {
  CHECK(nameWithoutHash("axpb$jit$123$") == "axpb");
  CHECK(nameWithoutHash("axpb.jit.123") == "axpb");
  for (const char* name : {"axpb", "axpb$jit$", "axpb$jit$x1$", "$jit$1$", "axpb.jit.", ".jit.1",
                           "axpb$jit$1", "axpb.jit.1x"})
    CHECK(nameWithoutHash(name) == name);
  const File file = parseFile(R"({"a$jit$1$": {}, "a$jit$2$": {}, "a$jit$4$": {}, "aa$jit$3$": {},
      "b.jit.1": {"Mneme": {"StaticHash": "00000000000000aa", "Variants": [{}]}}})",
                              "t");
  CHECK(file.find("a$jit$2$") == &file.kernels.at("a$jit$2$"));
  CHECK(file.find("a$jit$3$") == &file.kernels.at("a$jit$1$"));
  CHECK(file.find("b.jit.1") == &file.kernels.at("b.jit.1"));
  CHECK(!file.find("b.jit.2"));
  CHECK(!file.find("a"));
  CHECK(file.namesLike("a$jit$1$") == std::vector<std::string>{"a$jit$2$", "a$jit$4$"});
  CHECK(file.namesLike("a").empty());
}

TEST_CASE("missing keys have the documented defaults") {
  const Variant variant = parseFile(R"({"k": {}})", "t").kernels.at("k").variants.at(0);
  CHECK(variant.launchBounds);
  CHECK(variant.specializeDims);
  CHECK(!variant.specializeArgs);
  CHECK(variant.pipeline == "default<O3>");
  CHECK(variant.codegenOptLevel == 3);
  CHECK(variant.tunedMaxThreads == -1);
  CHECK(variant.minBlocksPerSm == 0);
  CHECK(!variant.specializedArgs);
  CHECK(!variant.launch);
}

TEST_CASE("a file of the existing tool is read as that tool reads it") {
  const File file = parseFile(
      R"({"a": {"CodeGen": "rtc", "OptLevel": 1, "CodeGenOptLevel": 1, "MinBlocksPerSM": -1},
          "b": {"CodeGen": "serial", "OptLevel": "s", "LaunchBounds": false},
          "c": {"OptLevel": "1", "Pipeline": "default<O2>", "TunedMaxThreads": 128}})",
      "t");
  CHECK(file.warnings.empty());
  const auto variant = [&](const char* name) { return file.kernels.at(name).variants.at(0); };
  CHECK(!variant("a").staticHash);
  CHECK(variant("a").pipeline == "default<O3>"); // a level that is a number is ignored
  CHECK(variant("a").codegenOptLevel == 1);
  CHECK(variant("a").minBlocksPerSm == 0);
  CHECK(variant("b").pipeline == "default<Os>");
  CHECK(!variant("b").launchBounds);
  CHECK(variant("c").pipeline == "default<O2>");
  CHECK(variant("c").tunedMaxThreads == 128);
}

TEST_CASE("a bad entry costs that entry, and is named with file, kernel and key") {
  const File file =
      parseFile(R"({"good": {}, "bad": {"LaunchBounds": 1}, "worse": 7})", "dir/t.json");
  CHECK(file.kernels.size() == 1);
  CHECK(file.kernels.contains("good"));
  REQUIRE(file.warnings.size() == 2);
  CHECK(file.warnings[0] ==
        "'dir/t.json', kernel 'bad': LaunchBounds is 1 but has to be true or false; "
        "the kernel runs as it was built");
  CHECK(file.warnings[1].find("kernel 'worse' has to be an object") != std::string::npos);
}

TEST_CASE("a bad variant costs that variant") {
  const auto refused = [](const std::string& what, const std::string& by, const char* key) {
    const std::string warning = warningOf(sampleWith(what, by), 1);
    CAPTURE(warning);
    CHECK(warning.starts_with("'t.json', kernel 'stencil', Mneme, Variants 0"));
    CHECK(warning.find(key) != std::string::npos);
    CHECK(warning.find("variant is not used") != std::string::npos);
  };
  refused("\"Arch\", \"Arg:2\"", "\"Moon\"", "Moon");
  refused("\"Arg:2\"", "\"Arg:3\"", "Arg:3");
  refused("\"Arg:2\"", "\"Arg:2x\"", "Arg:2x");
  refused("\"Arch\": \"sm_90\",", "", "'Arch'");
  refused("\"Arg:2\"]", "7]", "Guards");
  refused("00080000", "0008000", "Bytes");
  refused("00080000", "0008+100", "Bytes");
  refused("00080000", "", "Bytes");
  refused("\"Index\": 4", "\"Index\": 2", "Index");
  refused("\"Index\": 4,", "", "Index");
  refused("\"cover\"", "\"always\"", "Rule");
  refused("\"SharedMem\": 48,", "", "SharedMem");
  refused("{\"x\": 32, \"y\": 8, \"z\": 1}", "{\"x\": 0}", "x");
  refused("\"GridDim\": {\"x\": 64", "\"GridDim\": {\"x\": 4294967296", "x");
  refused("\"GridDim\": {\"x\": 64", "\"GridDim\": {\"x\": -1", "x");
  refused("\"SpecializedArgs\": [3", "\"SpecializedArgs\": [-3", "SpecializedArgs");
  refused("\"CodeGenOptLevel\": 2", "\"CodeGenOptLevel\": 4", "CodeGenOptLevel");
  refused("\"Weight\": 0.75", "\"Weight\": \"much\"", "Weight");
  refused("\"TunedMaxThreads\": 255", "\"TunedMaxThreads\": 1.5", "TunedMaxThreads");
}

TEST_CASE("what cannot be trusted costs the kernel") {
  CHECK(warningOf(sampleWith("8c0f4d6a1b2e3f70", "8c0f"), 0).find("StaticHash") !=
        std::string::npos);
  CHECK(warningOf(sampleWith("8c0f4d6a1b2e3f70", "xc0f4d6a1b2e3f70"), 0).find("StaticHash") !=
        std::string::npos);
  CHECK(warningOf(sampleWith("\"Version\": 1", "\"Version\": 4"), 0).find("update") !=
        std::string::npos);
  CHECK(warningOf(R"({"k": {"Mneme": {"Variants": []}}})", 0).find("no variant") !=
        std::string::npos);
}

TEST_CASE("anything that is not a JSON object is refused whole") {
  for (const std::string text : {"", "[", "[]", "7", "{\"a\": }", "{} {}", "\xff\xfe"})
    CHECK_THROWS_AS(parseFile(text, "t"), mneme::Error);
  const std::string deep(100000, '[');
  CHECK_THROWS_AS(parseFile("{\"a\":" + deep, "t"), mneme::Error);
  CHECK_THROWS_WITH(parseFile("{\"a\":" + std::string(17, '[') + std::string(17, ']') + "}", "t"),
                    "'t' is nested too deeply");
  for (const char* text : {"", " \n"})
    CHECK_THROWS_WITH_AS(parseFile(text, "t.json"),
                         doctest::Contains("'t.json' is empty, not a tuned-kernels file; write it "
                                           "again with 'mneme deploy'"),
                         mneme::Error);
}

TEST_CASE("a file that is not there, or is a directory, is an error that names it") {
  CHECK_THROWS_WITH_AS(readFile("/nowhere/t.json"), doctest::Contains("/nowhere/t.json"),
                       mneme::Error);
  CHECK_THROWS_WITH_AS(readFile("/tmp"), doctest::Contains("/tmp"), mneme::Error);
}

TEST_CASE("a text of which a run would leave something out is refused as a whole") {
  const auto codeOf = [](const std::string& text) {
    try {
      checkText(text, "t.json");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).starts_with("'t.json'"));
      return error.code();
    }
    return ErrorCode::Ok;
  };
  CHECK(codeOf(kSample) == ErrorCode::Ok);
  CHECK(codeOf("{}") == ErrorCode::Ok);
  CHECK(codeOf("[]") == ErrorCode::ArtifactCorrupt);
  CHECK(codeOf(sampleWith("\"Arg:2\"", "\"Arg:3\"")) == ErrorCode::ArtifactCorrupt);
  CHECK(codeOf(R"({"k": {"Pipeline": 1}, "k": {}})") == ErrorCode::ArtifactCorrupt);
  CHECK(codeOf(sampleWith("\"Version\": 1", "\"Version\": 4")) == ErrorCode::Unsupported);
}

TEST_CASE("messages show the wrong value, if it is short") {
  const auto said = [](const std::string& value) {
    return warningOf("{\"k\": {\"Pipeline\": " + value + "}}", 0);
  };
  CHECK(said("[true, null]").find(": Pipeline is [true,null] but has to be a text;") !=
        std::string::npos);
  CHECK(said("[\"" + std::string(60, 'x') + "\"]").find("xxx... but has to") != std::string::npos);
  CHECK(warningOf(R"({"k": {"MaxRegisters": -1}})", 0)
            .find("MaxRegisters is -1 but has to be a whole number from 0 to 1024") !=
        std::string::npos);
  CHECK(parseFile(R"({"k": {"MaxRegisters": -0}})", "t").warnings.empty());
}

TEST_CASE("damaged files are read or refused, never trusted blindly") {
  std::mt19937 random(7);
  const auto below = [&](size_t limit) { return random() % limit; };
  size_t usable = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = kSample;
    for (size_t edit = 0; edit <= below(3); ++edit)
      switch (below(4)) {
      case 0:
        text[below(text.size())] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(below(text.size()), 1 + below(20));
        break;
      case 2:
        text.insert(below(text.size()), text.substr(below(text.size()), below(40)));
        break;
      default:
        text[below(text.size())] = "0123456789-\"{}[],:.e"[below(20)];
      }
    try {
      const File file = parseFile(text, "t");
      for (const auto& [name, kernel] : file.kernels) {
        ++usable;
        REQUIRE(!kernel.variants.empty());
        for (const Variant& variant : kernel.variants) {
          for (const ArgValue& arg : variant.match.args)
            REQUIRE(!arg.bytes.empty());
          REQUIRE((!variant.launch || (variant.match.grid && variant.match.block)));
        }
      }
    } catch (const mneme::Error&) {
    }
  }
  CHECK(usable > 100);
}

TEST_CASE("reading time grows with the size of the file, not with its square") {
  std::string text = R"({"k": {"Mneme": {"Version": 1, "Variants": [)";
  for (int i = 0; i < 50000; ++i)
    text += (i == 0 ? "" : ",") + std::string(R"({"Match": {"Arch": "sm_90", "SharedMem": )") +
            std::to_string(i) + R"(, "GridDim": {"x": 3}, "BlockDim": {"x": 64},
              "Args": [{"Index": 0, "Type": "i32", "Bytes": "01000000", "Value": 1}]},
              "Guards": ["Arch", "Grid", "Block", "SharedMem", "Args"]})";
  text += "]}}}";
  const std::clock_t start = std::clock(); // time of this process, not of the machine
  const File file = parseFile(text, "t.json");
  const std::clock_t taken = std::clock() - start;
  CHECK(file.warnings.empty());
  CHECK(file.kernels.at("k").variants.size() == 50000);
  CHECK(taken < 5 * CLOCKS_PER_SEC); // 0.3 s
}

TEST_CASE("a variant with very many arguments and guards is read as fast") {
  std::string args, guards;
  for (int i = 0; i < 60000; ++i) {
    args += (i == 0 ? "" : ",") + std::string(R"({"Index": )") + std::to_string(i) +
            R"(, "Bytes": "01"})";
    guards += (i == 0 ? "" : ",") + std::string("\"Arg:") + std::to_string(i) + "\"";
  }
  const std::clock_t start = std::clock(); // time of this process, not of the machine
  const File file = parseFile(
      R"({"k": {"Match": {"Args": [)" + args + R"(]}, "Guards": [)" + guards + "]}}", "t.json");
  const std::clock_t taken = std::clock() - start;
  REQUIRE(file.kernels.contains("k"));
  CHECK(file.kernels.at("k").variants[0].guards.args.size() == 60000);
  CHECK(taken < 5 * CLOCKS_PER_SEC);
}

TEST_CASE("of variants that are there twice the last ones count") {
  const std::string first = R"("Variants": [{"Pipeline": "default<O1>"}])";
  const std::string last = R"("Variants": [{"Pipeline": "default<O2>"}])";
  for (const std::string& ours : {R"("Mneme": {)" + first + ", " + last + "}",
                                  R"("Mneme": {)" + first + R"(}, "Mneme": {)" + last + "}"}) {
    const File file = parseFile("{\"k\": {" + ours + "}}", "t");
    REQUIRE(file.kernels.at("k").variants.size() == 1);
    CHECK(file.kernels.at("k").variants[0].pipeline == "default<O2>");
  }
}

TEST_CASE("code without IR has a form, a hash and all of its arguments") {
  const std::string text = R"json({"k": {"Mneme": {"Version": 3, "Variants": [
    {"CodeForm": "ptx", "StaticHash": "00000000000000ab", "MaxRegisters": 32,
     "CodeGenOptLevel": 2, "AssemblerOptions": "--fmad=false", "Cubin": "7f45",
     "Match": {"Arch": "sm_90", "Args": [{"Index": 0, "Bytes": "00000000000000000102030405060708", "Pointers": [0]},
                        {"Index": 1, "Bytes": "0000000000000000", "Pointers": [0]},
                        {"Index": 2, "Type": "i32", "Bytes": "07000000"}]}},
    {"Pipeline": "default<O1>"}]}}})json";
  File file = parseFile(text, "t.json");
  CHECK(file.warnings.empty());
  const Variant& variant = file.kernels.at("k").variants.at(0);
  CHECK(variant.codeForm == "ptx");
  CHECK(variant.maxRegisters == 32);
  REQUIRE(variant.cubin);
  CHECK(*variant.cubin == std::vector{std::byte{0x7f}, std::byte{0x45}});
  CHECK(variant.match.argSizes == std::vector<uint64_t>{16, 8, 4});
  REQUIRE(variant.match.args.size() == 2); // without pointers
  CHECK(variant.match.args[0].offset == 8u);
  CHECK(variant.match.args[0].bytes.size() == 8);
  CHECK(variant.match.args[0].bytes[7] == std::byte{8});
  CHECK(variant.match.args[1].index == 2);

  File withIr = file;
  keepOnly(withIr, CodeKind::WithIr);
  CHECK(withIr.kernels.at("k").variants.size() == 1);
  CHECK(withIr.kernels.at("k").variants[0].codeForm.empty());
  keepOnly(file, CodeKind::WithoutIr);
  CHECK(file.kernels.at("k").variants[0].codeForm == "ptx");
  keepOnly(file, CodeKind::WithIr);
  CHECK(file.kernels.empty());
}

TEST_CASE("what code without IR needs is missing") {
  const auto warning = [](const std::string& variant) {
    return warningOf(R"({"k": {"Mneme": {"Variants": [{)" + variant + "}]}}}", 0);
  };
  CHECK(warning(R"("CodeForm": "cubin")").find("CodeForm needs StaticHash") != std::string::npos);
  const std::string cubin = R"("StaticHash": "00000000000000ab", "Cubin": "7f45", )";
  for (const char* more : {R"("CodeForm": "ptx")", R"("Match": {"Arch": "a"})"})
    CHECK(warning(cubin + more).find("Cubin needs CodeForm, and Arch in") != std::string::npos);
  CHECK(warning(R"("CodeForm": "ptx", "Match": {"Arch": "a"}, "Cubin": "7")")
            .find("machine code as pairs of hexadecimal digits") != std::string::npos);
  const std::string begin = R"("Match": {"Args": [{"Index": 0, "Bytes": "00000000", "Pointers": )";
  for (const char* pointers : {"[0]}]}", "[4]}]}", "[8]}]}"})
    CHECK(warning(begin + pointers).find("Pointers names bytes") != std::string::npos);
}
