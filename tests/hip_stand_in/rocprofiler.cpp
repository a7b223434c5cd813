// Room emulator/runtimes: a stand-in for AMD's rocprofiler-sdk: contexts, buffers and the tracing
// of code objects and kernel dispatches, as far as a tool that measures kernels needs them. What
// runs comes from the stand-in for AMD's HIP runtime. MNEME_STAND_IN_ROCPROFILER=0.4 plays the
// version of ROCm 6.2, 0.5 that of 6.3, 0.6 that of 6.4, 1.0 and (unless told otherwise) 1.2 those
// of 7; =locked one that another tool has taken; =longer one whose records of dispatches have more
// behind; =other one that has more in them. Layouts are written here once more, so that a mistake
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

#include "runtime/core/base/environment.h"
#include "runtime/emulator/runtimes/core/launch.h"

#define MNEME_ROCPROFILER_API extern "C" [[gnu::visibility("default")]]

namespace {

constexpr int kSuccess = 0, kError = 1, kLocked = 12, kNotZero = 13;
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
  uint64_t room = 0; ///< for records that are longer; not counted in `size` else
};
constexpr size_t kDispatchBytes = offsetof(Dispatch, room);
struct Symbol {
  uint64_t size, kernelId, codeObjectId;
  const char* name;
  uint64_t object = 0;
  uint32_t kernargSize = 0, kernargAlignment = 0, groupSegment, privateSegment = 0;
  uint32_t scalarRegisters = 0, vectorRegisters = 0, accumulators = 0;
  int64_t entryOffset = 0; ///< since 0.6, as the next
  uint64_t codeAddress = 0;
};
constexpr size_t kOldSymbolBytes = 72;
static_assert(offsetof(Symbol, entryOffset) == kOldSymbolBytes && sizeof(Symbol) == 88);
/// Begins as a symbol does and has other things where its kernel and name are.
struct HostSymbol {
  uint64_t size = sizeof(HostSymbol), hostFunctionId = 1, kernelId, codeObjectId = 1;
  uint64_t hostFunction = 0, modules = 0;
  const char* deviceFunction = nullptr;
  uint32_t threadLimit = 0, dimensions[12] = {};
  uint64_t workgroupSize = 0;
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

/// As rocprofiler-sdk counts: 10000 * major + 100 * minor + patch.
struct Version {
  uint32_t number;
  const char* text;
};
Version version() {
  for (const Version& one : {Version{400, "0.4.0"}, Version{500, "0.5.0"}, Version{600, "0.6.0"},
                             Version{10000, "1.0.0"}})
    if (!played().empty() && std::string_view(one.text).starts_with(played()))
      return one;
  return {10201, "1.2.1"};
}
bool isBefore1() { return version().number < 10000; }
bool isBefore06() { return version().number < 600; }

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

template <typename Record> void callBackWith(Record record) {
  uint64_t userData = 0;
  reinterpret_cast<void (*)(Record, void*, void*)>(state().takeSymbol)(record, &userData,
                                                                       state().symbolData);
}

void callBack(uint32_t operation, void* payload) {
  constexpr uint32_t kLoad = 1;
  if (isBefore1())
    callBackWith(OldRecord{1, 1, 1, 0, kCodeObject, operation, kLoad, payload});
  else
    callBackWith(NewRecord{1, 1, 1, 0, 0, kCodeObject, operation, kLoad, payload});
}

/// Reports a kernel's symbol before its first dispatch; since 0.6, that of its host function too.
uint64_t kernelId(const mneme::cpu_runtime::SeenLaunch& launch) {
  State& own = state();
  const auto [known, isNew] = own.kernels.emplace(launch.handle, own.kernels.size() + 1);
  if (!isNew || !own.takeSymbol)
    return known->second;
  const std::string name = std::string(launch.kernel) + ".kd";
  Symbol symbol{.size = isBefore06() ? kOldSymbolBytes : sizeof(Symbol),
                .kernelId = known->second,
                .codeObjectId = 1,
                .name = name.c_str(),
                .groupSegment = static_cast<uint32_t>(launch.staticBytes)};
  constexpr uint32_t kRegister = 2, kRegisterHost = 3;
  callBack(kRegister, &symbol);
  HostSymbol host{.kernelId = known->second};
  if (!isBefore06())
    callBack(kRegisterHost, &host);
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
  if (context->handle != 0 && version().number >= 500)
    return kNotZero;
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
  state().watermark = watermark / kDispatchBytes;
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
  own.tool = configure(version().number, version().text, 0,
                       isBefore1() ? static_cast<void*>(&old) : static_cast<void*>(&recent));
  own.isInitialising = true;
  if (own.tool && own.tool->initialize)
    own.tool->initialize(isBefore1() ? reinterpret_cast<void*>(&finishOld)
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
  Dispatch made{.size = kDispatchBytes,
                .kind = kKernelDispatch,
                .operation = 1,
                .start = launch.startNs,
                .end = launch.endNs,
                .infoSize = offsetof(Dispatch, reserved) - offsetof(Dispatch, infoSize),
                .kernelId = kernelId(launch),
                .dispatchId = own.buffer.size(),
                .groupSegment = static_cast<uint32_t>(launch.staticBytes + launch.dynamicBytes)};
  for (int axis = 0; axis < 3; ++axis) {
    made.workgroup[axis] = launch.block[axis];
    made.grid[axis] = launch.grid[axis] * launch.block[axis];
  }
  if (played() == "longer" || played() == "other")
    made.size = sizeof made;
  if (played() == "other") {
    constexpr size_t at = offsetof(Dispatch, thread);
    auto* const bytes = reinterpret_cast<unsigned char*>(&made);
    std::memmove(bytes + at + 8, bytes + at, kDispatchBytes - at);
  }
  own.buffer.push_back(made);
  if (own.buffer.size() > own.watermark)
    handOver();
}
