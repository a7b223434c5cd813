#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "runtime/recorder/kernel_catalog.h"
#include "runtime/recorder/metadata_options.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::record::test {
namespace {

struct Launch {
  void* buffer = &buffer;
  int count = 5;
  struct {
    double x = 1, y = 2;
  } step;
  void* args[3] = {&buffer, &count, &step};
  mneme_launch launch{};
  Launch() {
    launch.grid = {4, 1, 1};
    launch.block = {32, 1, 1};
    launch.args = args;
  }
};

embed::KernelBlob blob() {
  embed::KernelBlob value;
  value.args = {{"p", "ptr", 8, 8, ArgKind::Pointer, false},
                {"n", "i32", 4, 4, ArgKind::Integer, true},
                {"s", "struct.S", 16, 8, ArgKind::Aggregate, false}};
  return value;
}

} // namespace

TEST_CASE("a launch is told apart by shape, scalars and structs, not by pointers") {
  Launch one;
  const uint64_t hash = dynamicHash(blob(), one.launch, {});
  one.buffer = &one;
  CHECK(dynamicHash(blob(), one.launch, {}) == hash);
  CHECK(dynamicHash(blob(), one.launch, {true, {1, 1, 1}}) != hash);
  CHECK(dynamicHash(blob(), one.launch, {false, {2, 1, 1}}) != hash);
  one.count = 6;
  CHECK(dynamicHash(blob(), one.launch, {}) != hash);
  one.count = 5;
  one.step.y = 3;
  CHECK(dynamicHash(blob(), one.launch, {}) != hash);
  one.step.y = 2;
  one.launch.grid.z = 2;
  CHECK(dynamicHash(blob(), one.launch, {}) != hash);
  one.launch.grid.z = 1;
  one.launch.sharedBytes = 1;
  CHECK(dynamicHash(blob(), one.launch, {}) != hash);
  one.launch.sharedBytes = 0;
  CHECK(dynamicHash(blob(), one.launch, {}) == hash);
}

TEST_CASE("of structures, what the kernel reads tells launches apart, but for pointers") {
  Launch one;
  embed::KernelBlob known = blob();
  known.args[2].fields = {{{.offset = 0, .sizeBytes = 8, .kind = ArgKind::Pointer},
                           {.offset = 8, .sizeBytes = 4, .kind = ArgKind::Float}}};
  const uint64_t hash = dynamicHash(known, one.launch, {});
  one.step.x = 7;
  CHECK(dynamicHash(known, one.launch, {}) == hash);
  auto* const bytes = reinterpret_cast<unsigned char*>(&one.step);
  bytes[12] ^= 1; // behind the member
  CHECK(dynamicHash(known, one.launch, {}) == hash);
  bytes[11] ^= 1;
  CHECK(dynamicHash(known, one.launch, {}) != hash);
}

TEST_CASE("what linked code reads and no recording holds is told, textures where GPUs have them") {
  const auto withReads = [](const char* reads) {
    embed::KernelBlob one = blob();
    one.demangled = "sample(float*)";
    one.metadataJson =
        std::string(R"({"options":{"opt_level":"3","unrecorded_reads":)") + reads + "}}";
    return std::make_shared<const embed::KernelBlob>(std::move(one));
  };
  KernelInfo info;
  info.blob = withReads(R"(["textures", "the device's heap"])");
  info.modules = {withReads(R"(["clocks"])")};
  CHECK(unrecordedReads(info, "cuda:0") ==
        std::set<std::string>{"clocks", "textures", "the device's heap"});
  CHECK(warningOfReads(info, "cpu") == "kernel 'sample(float*)' reads what a recording does not "
                                       "hold (clocks): its replays may differ");
  CHECK(describeKernel(info, "cpu").optionsJson ==
        R"({"opt_level":"3","unrecorded_reads":["clocks"]})");
  info.blob = withReads(R"(["launches of its own"])");
  const std::string launches =
      "kernel 'sample(float*)' launches kernels itself: its replays may differ, or fail";
  CHECK(warningOfReads(info, "cuda:0") == "kernel 'sample(float*)' reads what a recording does not "
                                          "hold (clocks): its replays may differ; " +
                                              launches);
  info.modules.clear();
  CHECK(warningOfReads(info, "cuda:0") == launches);
  info.blob = withReads(R"(["textures"])");
  CHECK(warningOfReads(info, "cpu") == "");
  CHECK(describeKernel(info, "cpu").optionsJson == R"({"opt_level":"3"})");
  info.blob = std::make_shared<const embed::KernelBlob>(blob()); // says nothing
  CHECK(describeKernel(info, "cpu").optionsJson == "");
}

TEST_CASE("a kernel of Triton keeps what its code reads and no recording holds") {
  mneme::test::TemporaryDirectory cache;
  const std::filesystem::path entry = cache.path() / "ABC";
  std::filesystem::create_directories(entry);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(entry / name) << text;
  };
  write("k.cubin", "cubin");
  write("k.llir", "define ptx_kernel void @k(ptr %0, i32 %1) {\n}");
  write("k.ptx", ".version 8.7\n.target sm_90a\n");
  write("k.json", R"({"triton_version": "3.5.0"})");
  setenv("TRITON_CACHE_DIR", cache.path().c_str(), 1);

  embed::KernelBlob triton;
  triton.kernel = "k";
  triton.arch = "sm_90";
  triton.imageForm = "cubin";
  const auto bytes = std::as_bytes(std::span("cubin", 5));
  triton.image = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  triton.args = {{.sizeBytes = 8}, {.sizeBytes = 4}};
  triton.metadataJson = R"({"options":{"unrecorded_reads":["clocks"]}})";
  KernelInfo info;
  info.blob = std::make_shared<const embed::KernelBlob>(std::move(triton));
  artifact::KernelRecord record = describeKernel(info, "cuda:0");
  std::vector<std::vector<std::byte>> code = recordedCode(info);
  addCompilersCode(info, record, code);
  unsetenv("TRITON_CACHE_DIR");

  REQUIRE(record.images.size() == 2); // it was found
  CHECK(record.codeForm.empty());
  CHECK(record.arch == "sm_90a");
  CHECK(record.optionsJson.find("Triton 3.5.0") != std::string::npos);
  CHECK(unrecordedReadsOf(R"({"options":)" + record.optionsJson + "}") ==
        std::vector<std::string>{"clocks"});
}

TEST_CASE("argument values and pointers are taken as they are") {
  Launch one;
  const auto values = argumentValues(blob(), one.launch);
  REQUIRE(values.size() == 3);
  CHECK(values[1].size() == 4);
  CHECK(values[2].size() == 16);
  CHECK(static_cast<int>(values[1][0]) == 5);
  CHECK(pointerArguments(blob(), one.launch) ==
        std::vector<uint64_t>{reinterpret_cast<uint64_t>(one.buffer)});
}

TEST_CASE("without IR, words that are addresses do not tell launches apart") {
  struct {
    uint64_t address = 0x600000000000, number = 7;
  } packed;
  uint64_t word = 0x600000001000;
  void* args[] = {&packed, &word};
  mneme_launch launch{};
  launch.grid = launch.block = {1, 1, 1};
  launch.args = args;
  embed::KernelBlob image;
  image.args = {{.sizeBytes = 16, .kind = ArgKind::Aggregate}, {.sizeBytes = 8}};
  image.image = std::make_shared<const std::vector<std::byte>>(1);
  const auto hash = [&] {
    return dynamicHash(image, launch, {},
                       [](uint64_t value) { return value - 0x600000000000 < 0x10000; });
  };
  const uint64_t first = hash();
  packed.address += 64;
  word += 64;
  CHECK(hash() == first);
  packed.number = 8;
  CHECK(hash() != first);
  packed.number = 7;
  word = 3;
  CHECK(hash() != first);
  CHECK(wordArguments(image, launch) == std::vector<uint64_t>{packed.address, 7, 3});
}

TEST_CASE("functions that code refers to are found by their names") {
  auto own = std::make_shared<embed::KernelBlob>(), linked = std::make_shared<embed::KernelBlob>();
  const std::string_view names = "printfcudaCGSynchronize_Z5scalePfi";
  const auto bytes = std::as_bytes(std::span(names));
  linked->bitcode.assign(bytes.begin(), bytes.end());
  KernelInfo info;
  info.modules = {own, linked};
  constexpr const char* wanted[] = {"__ockl_multi_grid", "cudaCG"};
  CHECK(refersTo(info, wanted));
  CHECK(!refersTo(info, std::span(wanted).first(1)));
  CHECK(!refersTo(info, {}));
  info.modules.pop_back();
  CHECK(!refersTo(info, wanted));
}

TEST_CASE("a handle nobody registered is unknown") {
  const Settings settings;
  const LoadedModules loaded;
  KernelCatalog catalog(settings, loaded, findBackend());
  CHECK(catalog.find(&catalog) == nullptr);
  CHECK(catalog.find(&catalog) == nullptr);
  catalog.forget(nullptr);
}

TEST_CASE("variables of code without IR are found by kernels of other code, too") {
  constexpr std::string_view kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .b8 table[16];
.visible .entry add(.param .u64 numbers) {
  ret;
}
)";
  LoadedModules loaded;
  auto module = std::make_shared<LoadedModule>();
  module->handle = &loaded;
  module->read = [&] {
    return LoadedContent{.image = embed::copyImage(std::as_bytes(std::span(kPtx)))};
  };
  loaded.add(std::move(module));
  const Settings settings;
  KernelCatalog catalog(settings, loaded, findBackend());
  const int handle = 0;
  loaded.addKernel(&handle, &loaded, "add");
  const auto info = catalog.find(&handle);
  REQUIRE((info && info->blob));
  CHECK(info->blob->args.size() == 1);
  const auto globals = catalog.moduleGlobals();
  REQUIRE(globals.size() == 1);
  CHECK(globals[0].name == "table");
  CHECK(globals[0].sizeBytes == 16);
}

TEST_CASE("a handle that the vendor gives again is the kernel of the module loaded last") {
  LoadedModules loaded;
  char places[2];
  for (char& place : places) {
    auto module = std::make_shared<LoadedModule>();
    module->handle = &place;
    module->read = [] { return LoadedContent(); };
    loaded.add(std::move(module));
  }
  const Settings settings;
  KernelCatalog catalog(settings, loaded, findBackend());
  const int handle = 0;
  const auto moduleNow = [&] { return catalog.find(&handle)->loadedModule; };
  CHECK_FALSE(loaded.addKernel(&handle, &places[0], "add"));
  CHECK(moduleNow() == &places[0]);
  CHECK_FALSE(loaded.addKernel(&handle, &places[0], "add"));
  CHECK(loaded.addKernel(&handle, &places[1], "add")); // the context of the first has ended
  catalog.forgetHandle(&handle);
  CHECK(moduleNow() == &places[1]);
  CHECK(loaded.addKernel(&handle, &loaded, "of a module that was not seen"));
  CHECK_FALSE(loaded.find(&handle));
}

} // namespace mneme::record::test
