// Room emulator/runtimes: work that is done in the background.
//
// The work of a call is complete when the call returns. The exception are kernels with loops that
// only another thread can end: a host thread or a kernel in another stream. Such a kernel runs on a
// thread that belongs to its stream, the stream's *lane*. The call that launches it returns when
// the kernel has ended or after a short time. Work that must run after it, by the order of streams
// and events, is queued in lanes.
#pragma once

#include <atomic>

#include "runtime/emulator/runtimes/core/graph.h"

namespace mneme::cpu_runtime {

/// The number of lanes with work. While it is 0, nothing below needs to be called.
extern std::atomic<int> busyLanes;
inline bool isAnyBusy() noexcept { return busyLanes.load(std::memory_order_acquire) != 0; }

/// Queues the work if it must run after unfinished work; returns false if it can be done now.
/// Because unpinned host memory may change after the call, data read from it is copied, and the
/// call waits for writes to it.
bool enqueue(void* stream, Work work);

/// Runs work that may wait for the host. Returns when it is done or after a short time.
void runBehind(void* stream, Work work);

bool isStreamBusy(void* stream);
void waitForStream(void* stream);
/// Waits for all work that must run before work of the legacy default stream.
void waitForLegacyStream();
void waitForDevice();

/// Records the event after the stream's current work; returns false if there is none.
bool recordBehind(void* event, void* stream);
/// Makes the stream's later work wait for the event; returns false if the event has been reached.
bool waitBehind(void* stream, void* event);
bool isPending(void* event);
void waitForEvent(void* event);
/// Removes a destroyed event; work that waits for it keeps waiting.
void forgetEvent(void* event);

/// Returns the counter of application threads that wait for lanes, if the calling thread is a lane;
/// otherwise null.
const std::atomic<int>* hostWaits() noexcept;

} // namespace mneme::cpu_runtime
