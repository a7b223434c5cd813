// A libcupti.so.13 without a GPU. It counts what is done with it: every counter takes a pass of
// its own, and its value is 1000 times the passes plus its place. A counter named no... does not
// exist. MNEME_FAKE_CUPTI ("cuptiRangeProfilerStart=35,...") makes calls fail with a code.
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/devices/cuda/cupti_counter_types.h"
#include "runtime/devices/cuda/cupti_library.h"
#include "runtime/devices/cuda/cupti_record.h"

namespace mneme::device::cuda {

struct CounterHost {
  std::vector<std::string> names;
};

struct RangeProfiler {
  size_t passes = 0, done = 0;
  bool isStarted = false, isInside = false;
};

} // namespace mneme::device::cuda

using namespace mneme::device::cuda;

namespace {

constexpr int invalidParameter = 1, invalidOperation = 7;
int profilers = 0, hosts = 0;
CuptiFunctions::GiveBuffer giveBuffer = nullptr;
CuptiFunctions::TakeBuffer takeBuffer = nullptr;
std::vector<KernelRecord> waiting, handed;
size_t next = 0;

/// Returns the code that the call is to fail with, and checks what it was given.
template <typename Params> int answer(const char* name, const Params* params) {
  if (params->size != Params::kUsed || params->reserved)
    return invalidParameter;
  const char* asked = std::getenv("MNEME_FAKE_CUPTI");
  const std::string text = asked ? asked : "";
  const size_t at = text.find(std::string(name) + "=");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + std::strlen(name) + 1);
}

} // namespace

#define CALL(name, Params)                                                                         \
  static int name##Body(Params* params);                                                           \
  extern "C" [[gnu::visibility("default")]] int name(Params* params) {                             \
    const int result = answer(#name, params);                                                      \
    return result ? result : name##Body(params);                                                   \
  }                                                                                                \
  static int name##Body([[maybe_unused]] Params* params)

extern "C" {

[[gnu::visibility("default")]] int cuptiGetVersion(uint32_t* version) {
  *version = 130000;
  return 0;
}
[[gnu::visibility("default")]] int cuptiGetResultString(int result, const char** text) {
  *text = result == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_UNKNOWN";
  return 0;
}
[[gnu::visibility("default")]] int cuptiActivityRegisterCallbacks(CuptiFunctions::GiveBuffer give,
                                                                  CuptiFunctions::TakeBuffer take) {
  giveBuffer = give;
  takeBuffer = take;
  return 0;
}
[[gnu::visibility("default")]] int cuptiActivityEnable(int) { return 0; }
[[gnu::visibility("default")]] int cuptiActivityDisable(int) { return 0; }
/// Hands over what fakeCuptiKernel() was told.
[[gnu::visibility("default")]] int cuptiActivityFlushAll(uint32_t) {
  if (waiting.empty())
    return 0;
  uint8_t* buffer = nullptr;
  size_t bytes = 0, most = 0;
  giveBuffer(&buffer, &bytes, &most);
  handed = std::exchange(waiting, {});
  next = 0;
  takeBuffer(nullptr, 0, buffer, bytes, bytes);
  return 0;
}
[[gnu::visibility("default")]] int cuptiActivityGetNextRecord(uint8_t*, size_t, void** record) {
  if (next == handed.size())
    return 1;
  *record = &handed[next++];
  return 0;
}
/// A kernel of one block of one thread that the next flush tells of.
[[gnu::visibility("default")]] void fakeCuptiKernel(const char* name, uint32_t correlation,
                                                    uint64_t nanoseconds) {
  KernelRecord record = {};
  record.kind = kindConcurrentKernel;
  record.start = 1000;
  record.end = 1000 + nanoseconds;
  record.correlationId = correlation;
  for (int i = 0; i < 3; ++i)
    record.grid[i] = record.block[i] = 1;
  record.name = name;
  waiting.push_back(record);
}
/// How many hosts and profilers are not freed.
[[gnu::visibility("default")]] int fakeCuptiLeft() { return profilers + hosts; }

} // extern "C"

CALL(cuptiProfilerInitialize, InitializeParams) { return 0; }
CALL(cuptiDeviceGetChipName, ChipNameParams) {
  params->name = "GH100";
  return 0;
}
CALL(cuptiProfilerGetCounterAvailability, AvailabilityParams) {
  params->bytes = 8;
  return 0;
}
CALL(cuptiProfilerHostInitialize, HostInitializeParams) {
  if (std::string(params->chip) != "GH100")
    return invalidParameter;
  params->host = new CounterHost;
  ++hosts;
  return 0;
}
CALL(cuptiProfilerHostDeinitialize, HostDeinitializeParams) {
  delete params->host;
  --hosts;
  return 0;
}
CALL(cuptiProfilerHostConfigAddMetrics, AddMetricsParams) {
  // The real one takes more, and then gives some counters the value of others.
  if (!params->host->names.empty())
    return invalidParameter;
  for (size_t i = 0; i < params->count; ++i) {
    if (std::string(params->names[i]).starts_with("no"))
      return invalidParameter;
    params->host->names.push_back(params->names[i]);
  }
  return 0;
}
CALL(cuptiProfilerHostGetConfigImageSize, ConfigSizeParams) {
  params->bytes = params->host->names.size();
  return 0;
}
CALL(cuptiProfilerHostGetConfigImage, ConfigParams) {
  std::memset(params->image, 1, params->bytes);
  return 0;
}
CALL(cuptiProfilerHostGetNumOfPasses, PassCountParams) {
  params->count = params->bytes;
  return 0;
}
CALL(cuptiProfilerHostEvaluateToGpuValues, EvaluateParams) {
  if (params->dataBytes != sizeof(size_t) || params->range != 0)
    return invalidParameter;
  size_t passes = 0;
  std::memcpy(&passes, params->data, sizeof(passes));
  for (size_t i = 0; i < params->count; ++i)
    params->values[i] = static_cast<double>(1000 * passes + i);
  return 0;
}
CALL(cuptiRangeProfilerEnable, EnableParams) {
  if (profilers > 0 || !params->context)
    return invalidOperation;
  params->profiler = new RangeProfiler;
  ++profilers;
  return 0;
}
CALL(cuptiRangeProfilerDisable, RangeParams) {
  delete params->profiler;
  --profilers;
  return 0;
}
CALL(cuptiRangeProfilerGetCounterDataSize, DataSizeParams) {
  params->bytes = sizeof(size_t);
  return 0;
}
CALL(cuptiRangeProfilerCounterDataImageInitialize, PrepareDataParams) {
  std::memset(params->data, 0, params->bytes);
  return 0;
}
CALL(cuptiRangeProfilerSetConfig, SetConfigParams) {
  if (params->range != kUserRange || params->replay != kUserReplay || params->ranges != 1)
    return invalidParameter;
  params->profiler->passes = params->configBytes;
  std::memcpy(params->data, &params->configBytes, sizeof(size_t));
  return 0;
}
CALL(cuptiRangeProfilerStart, RangeParams) {
  if (params->profiler->isStarted)
    return invalidOperation;
  params->profiler->isStarted = true;
  return 0;
}
CALL(cuptiRangeProfilerStop, StopParams) {
  if (!params->profiler->isStarted || params->profiler->isInside)
    return invalidOperation;
  params->profiler->isStarted = false;
  params->isAll = ++params->profiler->done == params->profiler->passes;
  return 0;
}
CALL(cuptiRangeProfilerPushRange, PushParams) {
  if (!params->profiler->isStarted || params->profiler->isInside)
    return invalidOperation;
  params->profiler->isInside = true;
  return 0;
}
CALL(cuptiRangeProfilerPopRange, RangeParams) {
  if (!params->profiler->isInside)
    return invalidOperation;
  params->profiler->isInside = false;
  return 0;
}
CALL(cuptiRangeProfilerDecodeData, DecodeParams) {
  return params->profiler->done == params->profiler->passes ? 0 : invalidOperation;
}
