#include <doctest/doctest.h>

#include <thread>

#include "runtime/jit/backends/cuda/constants.h"
#include "support.h"

using namespace test;

namespace {

const char kTable = 0, kFactors = 0, kSecond = 0; // host shadows

std::string bytes(uint64_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

/// Memory of the program on the GPU.
struct Storage {
  alignas(8) char content[8] = {'o', 'n', 'e', 0, 0, 0, 0, 0};
  CUdeviceptr address() { return reinterpret_cast<CUdeviceptr>(content); }
  void set(const char* text) { std::strncpy(content, text, sizeof content); }
};

Image withTable() {
  Image image;
  image.globals = {{"table", 64, 4, false, true}};
  image.entries = {{&kTable, "table", 64, 0, 0}};
  return image;
}

Image withFactors() {
  Image image;
  image.variable("factors", 8).globals = {{"factors", 8, 8, true, true}};
  image.entries = {{&kFactors, "factors", 8, 1, 0}};
  return image;
}

} // namespace

TEST_CASE("the image is told where the program's variables are") {
  const auto backend = start();
  program().shadows[&kTable] = 0x7770000;
  program().module.variables["inner__mneme_0123"] = {0x8880000, 4};
  program().module.variables["odd.name"] = {0x9990000, 4};
  Image image = withTable();
  image.globals.push_back({"inner__mneme_0123", 4, 4, false, true});
  image.globals.push_back({"odd.name", 4, 4, false, true});
  image.globals.push_back({"notNeeded", 4, 4, false, true});
  image.variable("__mneme_place_table", 8).variable("__mneme_place_inner__mneme_0123", 8);
  image.variable("__mneme_place_odd$2ename", 8);
  const auto kernel = image.load(*backend);
  fake::Seen seen = run(*backend, *kernel, plainLaunch());
  CHECK(seen.variables["__mneme_place_table"] == bytes(0x7770000));
  CHECK(seen.variables["__mneme_place_inner__mneme_0123"] == bytes(0x8880000));
  CHECK(seen.variables["__mneme_place_odd$2ename"] == bytes(0x9990000));

  program().shadows[&kTable] = 0x6660000; // another life, another place
  application().lives[0] = 301;
  seen = run(*backend, *kernel, plainLaunch());
  CHECK(seen.variables["__mneme_place_table"] == bytes(0x6660000));
}

TEST_CASE("a kernel whose variables cannot be shared is not loaded") {
  const auto backend = start();
  Image lost = withTable();
  lost.variable("__mneme_place_table", 8);
  const Failure failure = failureOf([&] { lost.load(*backend); });
  CHECK(failure.message == "device variable 'table' of kernel 'k' cannot be found in the program; "
                           "link the program with the shared CUDA runtime");
  CHECK(program().lastError == 0);
  Image twice = withTable();
  program().shadows[&kTable] = 0x7770000;
  CHECK(failureOf([&] {
          twice.variable("table", 64).load(*backend);
        }).says("is in the tuned image, where the program does not see it"));
  program().module.variables["table"] = {0x7770000, 32};
  CHECK(failureOf([&] { lost.load(*backend); }).says("has 32 bytes in the program, and 64"));
  for (const fake::Module* module : application().modules)
    CHECK_FALSE(module->isLoaded);
}

TEST_CASE("constants have the program's values at every launch, in the order of the stream") {
  const auto backend = start();
  Storage theirs;
  program().shadows[&kFactors] = theirs.address();
  const auto kernel = withFactors().load(*backend);
  CHECK(std::string(run(*backend, *kernel, plainLaunch()).variables["factors"].c_str()) == "one");
  // Queued before the launch, run after it was queued.
  const CUstream stream = nullptr;
  std::deque<Storage> values; // until the queue has run
  const auto change = [&](const char* text) {
    const Driver& driver = Driver::get();
    values.emplace_back().set(text);
    driver.cuMemcpyDtoDAsync(theirs.address(), values.back().address(), sizeof(Storage), stream);
  };
  change("two");
  CHECK(tryLaunch(*backend, *kernel, plainLaunch()));
  change("three");
  CHECK(tryLaunch(*backend, *kernel, plainLaunch()));
  change("four");
  waitForGpu();
  const auto& launches = application().launches;
  REQUIRE(launches.size() == 3);
  CHECK(std::string(launches[1].variables.at("factors").c_str()) == "two");
  CHECK(std::string(launches[2].variables.at("factors").c_str()) == "three");
}

TEST_CASE("constants whose writes are told are copied until a copy is done that began after them") {
  const auto backend = start();
  Storage theirs;
  program().shadows[&kFactors] = theirs.address();
  Image image = withFactors();
  image.entries[0].flags |= MNEME_GLOBAL_WRITES_TOLD;
  const auto kernel = image.load(*backend);
  const auto seen = [&] {
    return std::string(run(*backend, *kernel, plainLaunch()).variables["factors"].c_str());
  };
  const auto settle = [&] {
    CHECK(seen() == theirs.content);
    std::this_thread::sleep_for(jit::CudaConstants::kTransfer);
    theirs.set("late"); // the transfer was not done when the call had returned
    CHECK(seen() == "late");
  };
  settle();
  theirs.set("untold");
  CHECK(seen() == "late");
  mneme_variable_written();
  CHECK(seen() == "untold");
  theirs.set("three");
  CHECK(seen() == "three");
  settle();
  theirs.set("untold");
  CHECK(seen() == "late");
}

TEST_CASE("a constant that host code of this unit cannot name is found by the program's kernel") {
  const auto backend = start();
  Storage theirs;
  Image image = withFactors();
  image.entries.clear();
  CHECK(failureOf([&] { image.load(*backend); }).says("'factors' of kernel 'k' cannot be found"));
  program().module.variables["factors"] = {theirs.address(), 8};
  const auto kernel = image.load(*backend);
  CHECK(std::string(run(*backend, *kernel, plainLaunch()).variables["factors"].c_str()) == "one");
}

TEST_CASE("when a constant cannot be copied the program's own kernel runs") {
  const auto backend = start();
  Storage theirs;
  program().shadows[&kFactors] = theirs.address();
  const auto kernel = withFactors().load(*backend);
  const test::Failing copies("cuMemcpyDtoDAsync=1");
  CHECK_FALSE(tryLaunch(*backend, *kernel, plainLaunch()));
  waitForGpu();
  CHECK(application().launches.empty());
}

TEST_CASE("a variable that several units name is bound once") {
  const auto backend = start();
  Storage theirs;
  program().module.variables["factors"] = {theirs.address(), 8};
  Image image = withFactors();
  image.entries = {{&kSecond, "other", 8, 1, 0}, {&kFactors, "factors", 8, 1 | 4, 0}};
  image.globals.push_back({"factors", 8, 8, true, false});
  const auto kernel = image.load(*backend); // found in the module of the program's kernel
  CHECK(std::string(run(*backend, *kernel, plainLaunch()).variables["factors"].c_str()) == "one");
}

TEST_CASE("with a runtime that cannot be asked, kernels without variables run") {
  start();
  const auto backend = jit::makeCudaBackend(Driver::get(), LoadedRuntime{});
  CHECK(backend->currentDevice() == 0);
  const auto kernel = Image().load(*backend);
  CHECK(tryLaunch(*backend, *kernel, plainLaunch()));
  mneme_launch launch = plainLaunch();
  launch.sharedBytes = 100 << 10;
  CHECK_FALSE(tryLaunch(*backend, *kernel, launch));
  Image image = withTable();
  CHECK(failureOf([&] {
          image.variable("__mneme_place_table", 8).load(*backend);
        }).says("link the program with the shared CUDA runtime"));
}
