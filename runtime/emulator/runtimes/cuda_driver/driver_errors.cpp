// Names and sentences of the CUDA driver API's codes, and what a function does that is not there.
#include <string>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/error_text.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/unsupported.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;

namespace {

constexpr mneme::cpu_runtime::ErrorText kNames[] = {
#include "runtime/emulator/runtimes/cuda_driver/error_names.inc"
};

const char* nameOf(int code) {
  const auto* found = mneme::cpu_runtime::findError(kNames, code);
  return found ? found->name : nullptr;
}

} // namespace

int mneme::cpu_runtime::unsupported(const char* name) noexcept {
  try {
    noticeOnce(std::string(name) + " is not supported on the CPU device");
  } catch (...) { // no memory for the sentence
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

MNEME_RUNTIME_API int cuGetErrorName(int code, const char** name) {
  const int status = give(name, nameOf(code));
  return status == CUDA_SUCCESS && !*name ? CUDA_ERROR_INVALID_VALUE : status;
}

/// The sentences are the runtime's, whose codes have the driver's numbers.
MNEME_RUNTIME_API int cuGetErrorString(int code, const char** text) {
  using Ask = const char* (*)(int);
  static const auto ask = reinterpret_cast<Ask>(runtimeFunction("cudaGetErrorString"));
  const bool isKnown = nameOf(code) && ask;
  const int status = give(text, isKnown ? ask(code) : nullptr);
  return status == CUDA_SUCCESS && !isKnown ? CUDA_ERROR_INVALID_VALUE : status;
}
