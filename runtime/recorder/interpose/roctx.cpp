// Room recorder: ranges of ROCTX become labels of launches.
#include "include/mneme/label.h"
#include "runtime/core/loaded/next_symbol.h"
#include "runtime/recorder/recorder_exported.h"

namespace {

constexpr const char* kLibraries[] = {"libroctx64.so.4", "librocprofiler-sdk-roctx.so.1"};
constexpr int kFailed = -1; ///< as ROCTX has it

template <typename Function> Function next(const char* name) {
  return reinterpret_cast<Function>(mneme::loaded::nextSymbol(name, kLibraries));
}

} // namespace

MNEME_RECORD_API int roctxRangePushA(const char* message) {
  static const auto push = next<int (*)(const char*)>("roctxRangePushA");
  if (mneme_push_label)
    mneme_push_label(message);
  return push ? push(message) : kFailed;
}

MNEME_RECORD_API int roctxRangePop() {
  static const auto pop = next<int (*)()>("roctxRangePop");
  const int level = pop ? pop() : kFailed;
  if (mneme_pop_label)
    mneme_pop_label();
  return level;
}
