#include "runtime/jit/readable_args.h"

#include <doctest/doctest.h>

#include <cstring>

using namespace mneme;
using namespace mneme::jit;

namespace {

/// A device that keeps `hidden` from the host.
class HidingBackend final : public Backend {
public:
  explicit HidingBackend(const void* hidden) : hidden_(hidden) {}
  int currentDevice() noexcept override { return 0; }
  std::string target(int) override { return "cpu"; }
  std::string deviceName(int) override { return "hiding"; }
  bool needsPlacedGlobals() const override { return false; }
  std::unique_ptr<LoadedKernel> load(const KernelImage&) override { return nullptr; }
  bool launch(LoadedKernel&, const mneme_launch&, const tuned::Dims&, int&) noexcept override {
    return false;
  }
  bool isHostReadable(const void* pointer) noexcept override { return pointer != hidden_; }
  bool copyToHost(void* to, const void* from, size_t sizeBytes) noexcept override {
    if (canCopy)
      std::memcpy(to, from, sizeBytes);
    return canCopy;
  }
  bool canCopy = true;

private:
  const void* hidden_;
};

ValueSource arrayAt(uint32_t argument, uint64_t count) {
  return ValueSource({.argument = argument,
                      .type = MNEME_CONSTANT_ARRAY,
                      .elementType = MNEME_CONSTANT_INT32,
                      .countArgument = -1,
                      .sizeBytes = sizeof(int32_t),
                      .count = count,
                      .countBytes = 0,
                      .flags = 0});
}

/// A launch with two pointers to arrays and a number.
struct Launch {
  int32_t first[2] = {1, 2};
  int32_t second[3] = {3, 4, 5};
  int32_t* pointers[2] = {first, second};
  int32_t number = 6;
  void* args[3] = {&pointers[0], &number, &pointers[1]};
  const std::vector<ValueSource> sources = {arrayAt(0, 2), ValueSource({1}, sizeof(int32_t)),
                                            arrayAt(2, 3)};
};

} // namespace

TEST_CASE("arguments that the host can read are the launch's own") {
  Launch launch;
  HidingBackend backend(nullptr);
  ReadableArgs readable(backend, launch.sources, launch.args, 3);
  CHECK(readable.get() == launch.args);
}

TEST_CASE("content that only the device reads is copied, the rest stays where it is") {
  Launch launch;
  HidingBackend backend(launch.second);
  ReadableArgs readable(backend, launch.sources, launch.args, 3);
  void** args = readable.get();
  REQUIRE(args != launch.args);
  CHECK(args[0] == launch.args[0]);
  CHECK(args[1] == launch.args[1]);
  const void* place = launch.sources[2].place(args);
  CHECK(place != launch.second);
  CHECK(std::memcmp(place, launch.second, sizeof launch.second) == 0);
  CHECK(launch.sources[2].place(launch.args) == launch.second);
}

TEST_CASE("content that cannot be copied is not a value") {
  Launch launch;
  HidingBackend backend(launch.first);
  backend.canCopy = false;
  ReadableArgs readable(backend, launch.sources, launch.args, 3);
  CHECK(launch.sources[0].sizeBytes(readable.get()) == 0);
  CHECK(valuesOf(launch.sources, readable.get()).size() == 2);
}
