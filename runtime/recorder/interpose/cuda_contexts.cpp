// Room recorder: the end of contexts that a program of the CUDA driver API makes itself, and limits
// of contexts. What is done about it is in ../served_memory.h.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

MNEME_RECORD_API int cuCtxDestroy_v2(void* context) {
  return watchContextEnd(context,
                         [&] { return forward<cuCtxDestroy_v2>("cuCtxDestroy_v2", context); });
}

/// What current headers map to the former.
MNEME_RECORD_API int cuCtxDestroy(void* context) {
  return watchContextEnd(context, [&] { return forward<cuCtxDestroy>("cuCtxDestroy", context); });
}

/// Ends a context that nothing else has attached to.
MNEME_RECORD_API int cuCtxDetach(void* context) {
  return watchContextEnd(context, [&] { return forward<cuCtxDetach>("cuCtxDetach", context); });
}

/// The runtime sets limits by this, too.
MNEME_RECORD_API int cuCtxSetLimit(int limit, size_t value) {
  return watchLimit(limit, [&] { return forward<cuCtxSetLimit>("cuCtxSetLimit", limit, value); });
}
