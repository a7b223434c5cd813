// Error queries of the HIP API. The codes are CUDA's where both have one; so are the sentences.
#include <algorithm>
#include <iterator>

#include "runtime/cpu_runtime/hip/exported.h"
#include "runtime/cpu_runtime/hip/vendor_calls.h"

using namespace mneme::cpu_runtime::hip;

namespace {

struct ErrorName {
  int code;
  const char* name;
};

constexpr ErrorName kNames[] = {
#include "runtime/cpu_runtime/hip/error_names.inc"
};

const char* nameOf(int code) {
  const auto* entry = std::lower_bound(std::begin(kNames), std::end(kNames), code,
                                       [](const ErrorName& e, int c) { return e.code < c; });
  return entry != std::end(kNames) && entry->code == code ? entry->name : "hipErrorUnknown";
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

MNEME_HIP_API Status hipGetLastError() { return takeLastError(); }

/// For what passes for AMD's runtime, which does so up to HIP 6.
MNEME_HIP_API void mneme_hiprt_forget_errors() { forgetErrorsAtSuccess(); }

MNEME_HIP_API Status hipPeekAtLastError() { return lastError(); }

MNEME_HIP_API const char* hipGetErrorName(int error) { return nameOf(error); }

MNEME_HIP_API const char* hipGetErrorString(int error) { return statusSentence(error); }

MNEME_HIP_API Status hipDrvGetErrorName(int error, const char** text) {
  return tell(text, nameOf(error));
}

MNEME_HIP_API Status hipDrvGetErrorString(int error, const char** text) {
  return tell(text, statusSentence(error));
}
