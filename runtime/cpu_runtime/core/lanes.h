// Room cpu_runtime: work that is done behind the application's back.
//
// Calls have done their work when they return, but for kernels with loops that only another thread
// can end, which may be the host's or of a kernel in another stream. Such a kernel runs on a thread
// of its stream, its *lane*. The call that launches it returns when it has ended, or after a
// moment; work that has to come after it, by the order of streams and events, queues up in lanes.
#pragma once

#include <atomic>

#include "runtime/cpu_runtime/core/graph.h"

namespace mneme::cpu_runtime {

/// Lanes with work. While it is 0 nothing below needs to be asked.
extern std::atomic<int> busyLanes;
inline bool isAnyBusy() noexcept { return busyLanes.load(std::memory_order_acquire) != 0; }

/// Queues the work if it has to come after some that is under way; false: it can be done now.
/// Host memory that is not pinned may change when the call has returned, so what is read from it is
/// kept, and for what is written to it is waited.
bool enqueue(void* stream, Work work);

/// Runs work that may wait for the host. Returns when it is done, or after a moment.
void runBehind(void* stream, Work work);

bool isStreamBusy(void* stream);
void waitForStream(void* stream);
/// Waits for all that work of the legacy default stream must follow.
void waitForLegacyStream();
void waitForDevice();

/// The event is reached with the stream's present work; false: there is none.
bool recordBehind(void* event, void* stream);
/// The stream's later work comes after the event; false: the event has been reached.
bool waitBehind(void* stream, void* event);
bool isPending(void* event);
void waitForEvent(void* event);
/// The event is destroyed; what waits for it goes on waiting.
void forgetEvent(void* event);

/// How many threads of the application wait for lanes now, if the calling thread is a lane; null
/// for others.
const std::atomic<int>* hostWaits() noexcept;

} // namespace mneme::cpu_runtime
