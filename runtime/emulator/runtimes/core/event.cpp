// Events: points on the monotonic clock.
#include "runtime/emulator/runtimes/core/event.h"

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/handle_table.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/stream.h"

namespace mneme::cpu_runtime {
namespace {

constexpr unsigned kDisableTiming = 2;
constexpr unsigned kInterprocess = 4;
constexpr unsigned kKnownFlags = 7;
constexpr unsigned kRecordExternal = 1; // in a capture: a node

struct Event {
  unsigned flags = 0;
  std::atomic<int64_t> recordedNs{-1};
};

HandleTable<Event>& events() {
  static auto* table = new HandleTable<Event>;
  return *table;
}

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status create(void** handle, unsigned flags) {
  const bool isTimedInterprocess = (flags & kInterprocess) && !(flags & kDisableTiming);
  if (!handle || flags & ~kKnownFlags || isTimedInterprocess)
    return Status::InvalidValue;
  auto event = std::make_shared<Event>();
  event->flags = flags;
  *handle = events().add(std::move(event));
  return Status::Success;
}

Status record(void* handle, void* stream, unsigned flags = 0) {
  if (!isEvent(handle) || !isStream(stream))
    return Status::InvalidResourceHandle;
  Status status = Status::Success;
  if (captureRecord(handle, stream, flags == kRecordExternal, status))
    return status;
  forgetCapturedEvent(handle);
  if (isAnyBusy() && recordBehind(handle, stream))
    return Status::Success;
  return recordEvent(handle);
}

Status elapsed(float* milliseconds, void* start, void* end) {
  if (!milliseconds)
    return Status::InvalidValue;
  const auto first = events().find(start);
  const auto last = events().find(end);
  if (!first || !last || (first->flags | last->flags) & kDisableTiming)
    return Status::InvalidResourceHandle;
  if (isAnyBusy() && (isPending(start) || isPending(end)))
    return Status::NotReady;
  if (first->recordedNs < 0 || last->recordedNs < 0)
    return Status::InvalidResourceHandle;
  *milliseconds = static_cast<float>(last->recordedNs - first->recordedNs) * 1e-6f;
  return Status::Success;
}

Status check(void* handle) {
  return isEvent(handle) ? mayWaitForEvent(handle) : Status::InvalidResourceHandle;
}

} // namespace

bool isEvent(void* handle) { return events().find(handle) != nullptr; }

Status recordEvent(void* handle) {
  const auto event = events().find(handle);
  if (!event)
    return Status::InvalidResourceHandle;
  event->recordedNs = nowNs();
  return Status::Success;
}

} // namespace mneme::cpu_runtime

using namespace mneme::cpu_runtime;

MNEME_RUNTIME_API Status gpuEventCreate(void** event) {
  return api([&] { return create(event, 0); });
}

MNEME_RUNTIME_API Status gpuEventCreateWithFlags(void** event, unsigned flags) {
  return api([&] { return create(event, flags); });
}

MNEME_RUNTIME_API Status gpuEventDestroy(void* event) {
  return api([&] {
    forgetCapturedEvent(event);
    if (isAnyBusy())
      forgetEvent(event);
    return events().remove(event) ? Status::Success : Status::InvalidResourceHandle;
  });
}

MNEME_RUNTIME_API Status gpuEventRecord(void* event, void* stream) {
  return api([&] { return record(event, stream); });
}

MNEME_RUNTIME_API Status gpuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return api([&] { return flags > 1 ? Status::InvalidValue : record(event, stream, flags); });
}

MNEME_RUNTIME_API Status gpuEventSynchronize(void* event) {
  if (isAnyBusy() && check(event) == Status::Success)
    waitForEvent(event);
  return synchronising([&] { return check(event); });
}

MNEME_RUNTIME_API Status gpuEventQuery(void* event) {
  if (isAnyBusy() && isEvent(event) && isPending(event))
    return remember(Status::NotReady);
  return synchronising([&] { return check(event); });
}

MNEME_RUNTIME_API Status gpuEventElapsedTime(float* milliseconds, void* start, void* end) {
  return synchronising([&] { return elapsed(milliseconds, start, end); });
}
