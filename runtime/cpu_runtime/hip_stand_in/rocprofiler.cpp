// Room cpu_runtime: a stand-in for AMD's rocprofiler-sdk: contexts, buffers and the tracing of code
// objects and kernel dispatches, as far as a tool that measures kernels needs them. What runs comes
// from the stand-in for AMD's HIP runtime. MNEME_STAND_IN_ROCPROFILER=0 plays a version before 1.0,
// whose records of callbacks are shorter; =locked one that another tool has taken; =other one whose
// records of dispatches have another size. Layouts are written here once more, so that a mistake
// in the tool is not made twice: rocprofiler-sdk's fwd.h, buffer_tracing.h, callback_tracing.h.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/cpu_runtime/core/launch.h"

#define MNEME_ROCPROFILER_API extern "C" [[gnu::visibility("default")]]

namespace {

constexpr int kSuccess = 0, kError = 1, kLocked = 12;
constexpr int kCodeObject = 10, kKernelDispatch = 11;

struct Id {
  uint64_t handle;
};
struct Tool {
  size_t size;
  int (*initialize)(void* finalizeClient, void*);
  void (*finalize)(void*);
  void* data;
};
struct Header {
  uint32_t category, kind;
  void* payload;
};
struct Dispatch {
  uint64_t size;
  uint32_t kind, operation;
  uint64_t internalCorrelation = 1, externalCorrelation = 0, thread = 1, start, end;
  uint64_t infoSize, agent = 1, queue = 1, kernelId, dispatchId;
  uint32_t privateSegment = 0, groupSegment, workgroup[3] = {}, grid[3] = {};
  unsigned char reserved[56] = {};
};
struct Symbol {
  uint64_t size, kernelId, codeObjectId;
  const char* name;
  uint64_t object = 0;
  uint32_t kernargSize = 0, kernargAlignment = 0, groupSegment, privateSegment = 0;
  uint32_t scalarRegisters = 0, vectorRegisters = 0, accumulators = 0;
};
struct OldRecord {
  uint64_t context, thread, internalCorrelation, externalCorrelation;
  uint32_t kind, operation, phase;
  void* payload;
};
struct NewRecord {
  uint64_t context, thread, internalCorrelation, externalCorrelation, ancestor;
  uint32_t kind, operation, phase;
  void* payload;
};
struct OldClient {
  const char* name;
  uint32_t handle;
};
struct NewClient {
  size_t size;
  const char* name;
  uint32_t handle;
};
using TakeRecords = void (*)(Id, Id, Header**, size_t, void*, uint64_t);

struct State {
  std::mutex mutex;
  bool isInitialising = false, isStarted = false, tracesDispatches = false;
  TakeRecords takeRecords = nullptr;
  void *recordsData = nullptr, *takeSymbol = nullptr, *symbolData = nullptr;
  size_t watermark = 0;
  std::vector<Dispatch> buffer;
  std::map<const void*, uint64_t> kernels;
  Tool* tool = nullptr;
};

State& state() {
  static auto* const made = new State;
  return *made;
}

std::string_view played() {
  const char* said = mneme::environmentValue("MNEME_STAND_IN_ROCPROFILER");
  return said ? said : "";
}

void handOver() {
  State& own = state();
  std::vector<Header> headers;
  std::vector<Header*> pointers;
  for (Dispatch& one : own.buffer)
    headers.push_back({1, kKernelDispatch, &one});
  for (Header& one : headers)
    pointers.push_back(&one);
  if (!pointers.empty())
    own.takeRecords({1}, {1}, pointers.data(), pointers.size(), own.recordsData, 0);
  own.buffer.clear();
}

template <typename Record> void callBack(Record record) {
  uint64_t userData = 0;
  reinterpret_cast<void (*)(Record, void*, void*)>(state().takeSymbol)(record, &userData,
                                                                       state().symbolData);
}

/// A kernel's symbol is told of before its first dispatch.
uint64_t kernelId(const mneme::cpu_runtime::SeenLaunch& launch) {
  State& own = state();
  const auto [known, isNew] = own.kernels.emplace(launch.handle, own.kernels.size() + 1);
  if (!isNew || !own.takeSymbol)
    return known->second;
  const std::string name = std::string(launch.kernel) + ".kd";
  Symbol symbol{.size = sizeof(Symbol),
                .kernelId = known->second,
                .codeObjectId = 1,
                .name = name.c_str(),
                .groupSegment = static_cast<uint32_t>(launch.staticBytes)};
  constexpr uint32_t kRegister = 2, kLoad = 1;
  if (played() == "0")
    callBack(OldRecord{1, 1, 1, 0, kCodeObject, kRegister, kLoad, &symbol});
  else
    callBack(NewRecord{1, 1, 1, 0, 0, kCodeObject, kRegister, kLoad, &symbol});
  return known->second;
}

void finish() {
  const std::lock_guard lock(state().mutex);
  if (Tool* const tool = std::exchange(state().tool, nullptr); tool && tool->finalize)
    tool->finalize(tool->data);
}

/// As the client asks for it, who has to name itself.
void finishOld(OldClient client) {
  if (client.handle == 7)
    finish();
}
void finishNew(NewClient client) {
  if (client.handle == 7 && client.size == sizeof client)
    finish();
}

} // namespace

MNEME_ROCPROFILER_API int rocprofiler_create_context(Id* context) {
  *context = {1};
  return state().isInitialising ? kSuccess : kLocked;
}

MNEME_ROCPROFILER_API int rocprofiler_create_buffer(Id context, size_t, size_t watermark,
                                                    int policy, TakeRecords take, void* data,
                                                    Id* buffer) {
  if (context.handle != 1 || policy != 2 || !take)
    return kError;
  state().takeRecords = take;
  state().recordsData = data;
  state().watermark = watermark / sizeof(Dispatch);
  *buffer = {1};
  return kSuccess;
}

MNEME_ROCPROFILER_API int
rocprofiler_configure_buffer_tracing_service(Id context, int kind, const void*, size_t, Id buffer) {
  if (context.handle != 1 || buffer.handle != 1 || kind != kKernelDispatch)
    return kError;
  state().tracesDispatches = true;
  return kSuccess;
}

MNEME_ROCPROFILER_API int rocprofiler_configure_callback_tracing_service(Id context, int kind,
                                                                         const void*, size_t,
                                                                         void* take, void* data) {
  if (context.handle != 1 || kind != kCodeObject || !take)
    return kError;
  state().takeSymbol = take;
  state().symbolData = data;
  return kSuccess;
}

MNEME_ROCPROFILER_API int rocprofiler_start_context(Id context) {
  if (context.handle != 1)
    return kError;
  state().isStarted = true;
  return kSuccess;
}

MNEME_ROCPROFILER_API int rocprofiler_flush_buffer(Id buffer) {
  if (buffer.handle != 1)
    return kError;
  handOver();
  return kSuccess;
}

MNEME_ROCPROFILER_API int rocprofiler_force_configure(Tool* (*configure)(uint32_t, const char*,
                                                                         uint32_t, void*)) {
  State& own = state();
  if (own.tool || played() == "locked")
    return kLocked;
  std::atexit(finish);
  static OldClient old{"tool", 7};
  static NewClient recent{sizeof(NewClient), "tool", 7};
  own.tool =
      played() == "0" ? configure(401, "0.4.1", 0, &old) : configure(10201, "1.2.1", 0, &recent);
  own.isInitialising = true;
  if (own.tool && own.tool->initialize)
    own.tool->initialize(played() == "0" ? reinterpret_cast<void*>(&finishOld)
                                         : reinterpret_cast<void*>(&finishNew),
                         own.tool->data);
  own.isInitialising = false;
  return kSuccess;
}

/// What the stand-in for the HIP runtime calls.
MNEME_ROCPROFILER_API void mneme_stand_in_dispatched(const mneme::cpu_runtime::SeenLaunch& launch) {
  State& own = state();
  const std::lock_guard lock(own.mutex);
  if (!own.isStarted || !own.tracesDispatches || !own.tool)
    return;
  Dispatch made{.size = sizeof(Dispatch) + (played() == "other" ? 8 : 0),
                .kind = kKernelDispatch,
                .operation = 1,
                .start = launch.startNs,
                .end = launch.endNs,
                .infoSize = sizeof(Dispatch) - offsetof(Dispatch, infoSize) - 56,
                .kernelId = kernelId(launch),
                .dispatchId = own.buffer.size(),
                .groupSegment = static_cast<uint32_t>(launch.staticBytes + launch.dynamicBytes)};
  for (int axis = 0; axis < 3; ++axis) {
    made.workgroup[axis] = launch.block[axis];
    made.grid[axis] = launch.grid[axis] * launch.block[axis];
  }
  own.buffer.push_back(made);
  if (own.buffer.size() > own.watermark)
    handOver();
}
