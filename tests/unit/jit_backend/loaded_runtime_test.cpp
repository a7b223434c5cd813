#include <doctest/doctest.h>

#include "runtime/devices/cuda/hidden_symbols.h"
#include "support.h"

using namespace test;

// A runtime linked into this program: functions the dynamic linker knows nothing of.
extern "C" {
[[gnu::visibility("hidden"), gnu::used]] int cudaLaunchCooperativeKernel() { return 4; }
[[gnu::visibility("hidden"), gnu::used]] int cudaLaunchCooperativeKernel_ptsz() { return 5; }
[[gnu::visibility("hidden"), gnu::used]] int cudaGetDevice(int* device) { return *device = 7, 0; }
}

TEST_CASE("functions of a runtime inside the program are found by its symbol table") {
  const LoadedRuntime inside =
      LoadedRuntime::find(reinterpret_cast<const void*>(&cudaLaunchCooperativeKernel));
  int device = 0;
  REQUIRE(static_cast<bool>(inside.getDevice == &cudaGetDevice));
  CHECK(inside.getDevice(&device) == 0);
  CHECK_FALSE(static_cast<bool>(inside.getSymbolAddress)); // it has none
  const LoadedRuntime shared =
      LoadedRuntime::find(reinterpret_cast<const void*>(&cudaLaunchKernel));
  CHECK_FALSE(static_cast<bool>(shared.getDevice));
}

TEST_CASE("stream 0 is told by the launch function, exported or not") {
  const auto meaning = [](auto function) {
    return defaultStreamOf(reinterpret_cast<const void*>(function));
  };
  for (int repeat = 0; repeat < 2; ++repeat) {
    CHECK(meaning(&cudaLaunchKernel) == DefaultStream::Legacy);
    CHECK(meaning(&cudaLaunchKernel_ptsz) == DefaultStream::PerThread);
    CHECK(meaning(&cudaLaunchCooperativeKernel) == DefaultStream::Legacy);
    CHECK(meaning(&cudaLaunchCooperativeKernel_ptsz) == DefaultStream::PerThread);
    CHECK(meaning(&cudaGetDevice) == DefaultStream::Unknown);
  }
  CHECK(defaultStreamOf(nullptr) == DefaultStream::Unknown);
}

TEST_CASE("a program without a symbol table has no hidden symbols") {
  CHECK(HiddenSymbols(nullptr, "cuda").find("cudaGetDevice") == nullptr);
  const void* stripped = dlsym(RTLD_DEFAULT, "strlen"); // distributions strip their C library
  CHECK(HiddenSymbols(stripped, "cuda").find("strlen") == nullptr);
}
