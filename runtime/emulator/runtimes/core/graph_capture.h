// Room emulator/runtimes: stream capture, which turns the work of streams into a graph instead of
// doing it.
//
// A capture begins on one stream and extends to other streams that wait for an event recorded in
// it. Each stream of a capture keeps the nodes that its next node depends on.
#pragma once

#include <atomic>

#include "runtime/emulator/runtimes/core/graph.h"
#include "runtime/emulator/runtimes/core/lanes.h"
#include "runtime/emulator/runtimes/core/stream.h"

namespace mneme::cpu_runtime {

/// The number of active captures in the process. While it is 0, nothing below needs to be called.
extern std::atomic<int> activeCaptures;
inline bool isAnyCapturing() noexcept {
  return activeCaptures.load(std::memory_order_relaxed) != 0;
}

/// Creates the work of a call. Holds a reference to the callable.
class MakeWork {
public:
  template <typename Make>
  MakeWork(const Make& make) noexcept // implicit: stands for the callable
      : object_(&make), call_([](const void* object, Work& work) {
          return (*static_cast<const Make*>(object))(work);
        }) {}
  Status operator()(Work& work) const { return call_(object_, work); }

private:
  const void* object_;
  Status (*call_)(const void*, Work&);
};

/// Returns false if `stream` is not being captured, so that the caller must do the work now.
/// Otherwise `status` is the call's result: the work has become a node, or is not allowed in this
/// stream now.
bool divert(void* stream, const MakeWork& make, Status& status);

/// Returns whether `stream` is being captured, or whether using it would invalidate a capture.
bool isCapturing(void* stream);

/// Runs `body` now if the stream is valid, idle and not being captured. Otherwise the same work
/// becomes a node or is queued.
template <typename Make, typename Body>
Status onStream(void* stream, const Make& make, const Body& body) {
  if (!isStream(stream))
    return Status::InvalidResourceHandle;
  Status status = Status::Success;
  if (isAnyCapturing() && divert(stream, make, status))
    return status;
  if (!isAnyBusy() || !isStreamBusy(stream))
    return body();
  Work work;
  status = make(work);
  if (status != Status::Success)
    return status;
  return enqueue(stream, std::move(work)) ? Status::Success : body();
}

/// Checks calls that are not allowed during a capture (allocating, waiting for the device).
/// Depending on the calling thread's mode, returns an error and invalidates the affected captures.
Status mayCallUnsafe();
/// Checks synchronous copies and fills, which are work of the legacy default stream.
Status mayUseLegacyStream();
/// Checks waiting for a stream or querying it.
Status mayWaitFor(void* stream);
/// Checks the same for an event, which must not belong to a capture.
Status mayWaitForEvent(void* event);

/// Records an event in a capture; returns false if the stream is not being captured.
bool captureRecord(void* event, void* stream, bool isExternal, Status& status);
/// Makes the stream wait for an event if one of them belongs to a capture, which the stream may
/// join; otherwise returns false.
bool captureWait(void* stream, void* event, bool isExternal, Status& status);
/// Removes an event that is recorded outside captures or destroyed.
void forgetCapturedEvent(void* event);
/// Invalidates the capture of a stream that is destroyed.
void forgetCapturedStream(void* stream);

} // namespace mneme::cpu_runtime
