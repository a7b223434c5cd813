// Room recorder: the last error of a thread, which may be a refusal of the recorder's.
#include "runtime/recorder/backends/vendor_runtime.h"
#include "runtime/recorder/recorder_exported.h"
#include "runtime/recorder/refusals.h"

using namespace mneme::record;

MNEME_RECORD_API int cudaGetLastError() {
  return lastErrorOr(forward<cudaGetLastError>("cudaGetLastError"), true);
}

MNEME_RECORD_API int cudaPeekAtLastError() {
  return lastErrorOr(forward<cudaPeekAtLastError>("cudaPeekAtLastError"), false);
}
