// What the tests on the fake driver share.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <dlfcn.h>

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"

namespace test {

/// From then on libcuda.so.1 is the fake: the loader knows the name already. Kernels are timed with
/// events.
inline void openFakeDriver() {
  static void* const fake = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_GLOBAL);
  if (!fake)
    abort();
  setenv("MNEME_TIMER", "events", 1);
}

inline std::unique_ptr<mneme::device::Device> openFake() {
  openFakeDriver();
  return mneme::device::openDevice("cuda:0");
}

/// Lets the fake fail while it lives: "cuMemCreate=2".
struct Failing {
  explicit Failing(const char* calls) { setenv("MNEME_FAKE_CUDA", calls, 1); }
  Failing(const Failing&) = delete;
  ~Failing() { unsetenv("MNEME_FAKE_CUDA"); }
};

struct Failure {
  mneme::ErrorCode code = mneme::ErrorCode::Ok;
  std::string message;
  bool says(const std::string& text) const { return message.find(text) != std::string::npos; }
};

inline Failure failureOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const mneme::Error& failure) {
    return {failure.code(), failure.what()};
  }
  return {};
}

inline std::span<const std::byte> bytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// What this program prints when it runs only the (skipped) test of that name, in a process of its
/// own with `variable` set to `value`.
std::string outputOfChild(const std::string& test, const char* variable, const char* value);

inline const std::string ptx = ".version 8.0\n.target sm_90\n"
                               ".visible .entry k(.param .u64 out, .param .u64 in) { ret; }\n";

} // namespace test
