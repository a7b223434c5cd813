// Error queries of the HIP API. The codes are CUDA's where both have one; so are the sentences.
#include "runtime/emulator/runtimes/core/error_text.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/own_calls.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr ErrorText kNames[] = {
#include "runtime/emulator/runtimes/hip/error_names.inc"
};

constexpr ErrorText kSentences[] = {
#include "runtime/emulator/runtimes/cuda/error_table.inc"
};

const char* nameOf(int code) {
  const ErrorText* text = findError(kNames, code);
  return text ? text->name : "hipErrorUnknown";
}

Status tell(const char** text, const char* value) {
  return always([&] {
    if (!text)
      return Status::InvalidValue;
    *text = value;
    return Status::Success;
  });
}

} // namespace

const char* mneme::cpu_runtime::statusSentence(int code) noexcept {
  const ErrorText* text = findError(kSentences, code);
  return text ? text->sentence : "unrecognized error code";
}

MNEME_RUNTIME_API Status hipGetLastError() { return takeLastError(); }

/// For what passes for AMD's runtime, which does so up to HIP 6.
MNEME_RUNTIME_API void mneme_hiprt_forget_errors() { forgetErrorsAtSuccess(); }

MNEME_RUNTIME_API Status hipPeekAtLastError() { return lastError(); }

MNEME_RUNTIME_API const char* hipGetErrorName(int error) { return nameOf(error); }

MNEME_RUNTIME_API const char* hipGetErrorString(int error) { return statusSentence(error); }

MNEME_RUNTIME_API Status hipDrvGetErrorName(int error, const char** text) {
  return tell(text, nameOf(error));
}

MNEME_RUNTIME_API Status hipDrvGetErrorString(int error, const char** text) {
  return tell(text, statusSentence(error));
}
