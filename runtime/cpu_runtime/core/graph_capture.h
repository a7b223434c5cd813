// Room cpu_runtime: streams whose work becomes a graph instead of being done.
//
// A capture begins on one stream and takes in others that wait for an event recorded in it. Each
// stream of a capture has the nodes that its next node depends on.
#pragma once

#include <atomic>

#include "runtime/cpu_runtime/core/graph.h"
#include "runtime/cpu_runtime/core/lanes.h"
#include "runtime/cpu_runtime/core/stream.h"

namespace mneme::cpu_runtime {

/// Captures under way in the process. While it is 0 nothing below needs to be asked.
extern std::atomic<int> activeCaptures;
inline bool isAnyCapturing() noexcept {
  return activeCaptures.load(std::memory_order_relaxed) != 0;
}

/// Makes the work of a call; refers to the callable.
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

/// False when `stream` takes part in no capture: the work is to be done now. Else `status` is the
/// call's answer: the work has become a node, or may not be given to this stream now.
bool divert(void* stream, const MakeWork& make, Status& status);

/// Whether `stream` takes part in a capture, or would spoil one.
bool isCapturing(void* stream);

/// Does `body` now, if the stream is a live one, not being captured and at rest. Else the same work
/// is a node or is queued.
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

/// For calls that are not allowed while something is captured (allocating, waiting for the
/// device): an error that ends the captures in question, by the calling thread's mode.
Status mayCallUnsafe();
/// For synchronous copies and fills, which are work of the legacy default stream.
Status mayUseLegacyStream();
/// For waiting for a stream, or asking about it.
Status mayWaitFor(void* stream);
/// Same for an event, which must not be one of a capture.
Status mayWaitForEvent(void* event);

/// Records an event in a capture, if the stream takes part in one; false: it does not.
bool captureRecord(void* event, void* stream, bool isExternal, Status& status);
/// The stream waits for an event; joins or leaves to a capture what belongs to it. False: none
/// does.
bool captureWait(void* stream, void* event, bool isExternal, Status& status);
/// The event is recorded outside of captures, or destroyed.
void forgetCapturedEvent(void* event);
/// The stream is destroyed: what it takes part in cannot be completed.
void forgetCapturedStream(void* stream);

} // namespace mneme::cpu_runtime
