// Room recorder: handles allocation calls of the application, for all vendors. The vendor's own
// function is passed as `next` and is called if the recorder does not serve the call, so that
// invalid calls get the vendor's own error.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "runtime/core/artifact/recording.h"
#include "runtime/recorder/next_call.h"
#include "runtime/recorder/record_backend.h"

namespace mneme::record {

struct GraphFunctions;

enum class FreeKind { Device, Host };

/// Serves an allocation from the window, or passes it on and notes the result as foreign. On a GPU
/// only device memory is served.
int serve(void** pointer, size_t bytes, artifact::RegionKind kind, const Next& next);

/// Finds a vendor's functions about graphs.
using FindGraphFunctions = const GraphFunctions& (*)() noexcept;

/// The same for stream-ordered device allocations. What is captured into a graph is a node of it;
/// without `graphs` the vendor serves it. The memory counts as part of `pool`, see
/// servePoolAttribute().
int serveOrdered(void** pointer, size_t bytes, void* stream, void* pool, FindGraphFunctions graphs,
                 const Next& next);

/// Frees served memory; passes on everything else. Synchronises the device first, as the vendor's
/// functions do, because running kernels may use the memory.
int serveFree(void* pointer, FreeKind kind, const Next& next);

/// The same in stream order: does not wait; the memory is free when the stream's present work is
/// done.
int serveFreeOrdered(void* pointer, void* stream, FindGraphFunctions graphs, const Next& next);

int watchRegister(void* pointer, size_t bytes, const Next& next);
int watchUnregister(void* pointer, const Next& next);

/// Forgets everything on the current device, then resets it.
int serveReset(const Next& next);
/// Passes on the end of a context that the program made itself, and what lies in it.
int watchContextEnd(void* context, const Next& next);

/// Passes on a call that sets a limit of the current context, by the vendor's number.
int watchLimit(int limit, const Next& next);

/// Passes on a call that says what is preferred of the L1 cache, by the vendor's number, for a
/// kernel: in the current context, or in all of a device.
int watchCacheConfig(const void* kernel, int config, std::optional<int> device, const Next& next);

/// Passes on a call that allows the current device to use the memory of `owner`.
int watchPeerAccess(int owner, const Next& next);

/// Calls `next`, then corrects the result as if the vendor had served what the recorder serves.
int serveFreeBytes(size_t* freeBytes, const Next& next);

/// Calls `next`, then adds the memory served instead of `pool` to its reserved and used bytes
/// (attributes 5 to 8, present and peak).
int servePoolAttribute(void* pool, int attribute, void* value, const Next& next);

/// Passes on a call that exports memory to other processes, and notes it if the memory was served.
int watchExport(const void* pointer, const Next& next);

/// Opens memory of another process, whose size `sizeOf` returns (0: unknown). It is recorded as the
/// vendor's memory until watchUnregister().
int watchImport(void** pointer, size_t (*sizeOf)(const void* pointer), const Next& next);

/// Reserves addresses for memory that the program maps itself, by the vendor's function: at a place
/// that a replay will find free (0: where the vendor likes).
int serveReservation(size_t bytes, size_t alignment,
                     const std::function<int(uint64_t place)>& reserve);
/// Passes on a mapping of memory, and its end. It is noted if kernels can read it.
int watchMapping(uint64_t address, size_t bytes, bool isReadable, const Next& next);
int watchUnmapping(uint64_t address, size_t bytes, const Next& next);

/// Passes on a copy or a fill while no recording is under way.
int watchTransfer(const Next& next);

/// Begins the capture of a stream into a graph while no recording is under way.
int watchCapture(const Next& next);
/// Passes on work that the recorder cannot record; `what` names it in the summary, once for each
/// `key`.
int watchUnrecorded(const char* what, const void* key, const Next& next);
/// The same for the launch of a kernel whose code is not known. It is named after its launch, which
/// has loaded it.
int watchUnreadable(const char* why, const void* function, const Next& next);

/// Whether an allocation in this stream becomes part of a graph, or is invalid so that the vendor
/// refuses it. Never true for the default stream.
bool isCapturingGraph(Backend& backend, void* stream) noexcept;

bool isServed(const void* pointer) noexcept;

/// Finds the begin and the requested size of the served memory around `inside`. Returns false for
/// other memory.
bool servedRange(const void* inside, uint64_t& base, size_t& bytes) noexcept;

/// Computes row and total size of a pitched allocation. Returns false if it is empty or does not
/// fit into 64 bits.
bool pitchedSize(size_t width, size_t height, size_t depth, size_t pitchBytes, size_t& rowBytes,
                 size_t& bytes) noexcept;

} // namespace mneme::record
