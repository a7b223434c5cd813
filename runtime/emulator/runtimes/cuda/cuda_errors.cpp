// Error queries of the CUDA Runtime API.
#include "runtime/emulator/runtimes/core/error_text.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr ErrorText kErrors[] = {
#include "runtime/emulator/runtimes/cuda/error_table.inc"
};

constexpr ErrorText kUnrecognized{0, "unrecognized error code", "unrecognized error code"};

const ErrorText& textOf(int code) noexcept {
  const ErrorText* text = findError(kErrors, code);
  return text ? *text : kUnrecognized;
}

} // namespace

const char* mneme::cpu_runtime::statusSentence(int code) noexcept { return textOf(code).sentence; }

MNEME_RUNTIME_API Status cudaGetLastError() { return takeLastError(); }

MNEME_RUNTIME_API Status cudaPeekAtLastError() { return lastError(); }

MNEME_RUNTIME_API const char* cudaGetErrorName(int error) { return textOf(error).name; }

MNEME_RUNTIME_API const char* cudaGetErrorString(int error) { return statusSentence(error); }
