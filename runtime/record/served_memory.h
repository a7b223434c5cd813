// Room record: what happens to an allocation call of the application, for every vendor alike. The
// vendor's own function is given as `next` and called where the recorder does not serve the call;
// so a call that makes no sense gets the vendor's own answer.
#pragma once

#include <cstddef>

#include "runtime/artifact/recording.h"
#include "runtime/base/cancellation.h"
#include "runtime/record/backend.h"

namespace mneme::record {

/// A call that is still to be made. Refers to the callable, which must outlive it.
class Next {
public:
  template <typename Call>
  Next(const Call& call) noexcept // implicit: stands for the callable
      : object_(&call),
        call_([](const void* object) { return (*static_cast<const Call*>(object))(); }) {}
  /// Throws nothing, but a thread that is cancelled in the vendor's function is unwound through it.
  int operator()() const {
    const CancellationOfCaller asCaller;
    return call_(object_);
  }

private:
  const void* object_;
  int (*call_)(const void*);
};

enum class FreeKind { Device, Host };

/// Serves an allocation from the window or passes it on and remembers the result as foreign. On a
/// GPU only device memory is served.
int serve(void** pointer, size_t bytes, artifact::RegionKind kind, const Next& next);

/// Same for stream-ordered device allocations; those captured into a graph are the vendor's. `pool`
/// is what the memory is to count for, see servePoolAttribute().
int serveOrdered(void** pointer, size_t bytes, void* stream, void* pool, const Next& next);

/// Frees what was served; everything else is passed on. The device is synchronised first, as the
/// vendor's functions do: kernels that still run may use the memory.
int serveFree(void* pointer, FreeKind kind, const Next& next);

/// Same in the order of a stream: nothing is waited for, the memory is free when the stream's
/// present work is done.
int serveFreeOrdered(void* pointer, void* stream, const Next& next);

int watchRegister(void* pointer, size_t bytes, const Next& next);
int watchUnregister(void* pointer, const Next& next);

/// Forgets everything on the current device, then resets it.
int serveReset(const Next& next);

/// The current device is about to be allowed to use the memory of `owner`.
int watchPeerAccess(int owner, const Next& next);

/// Calls `next`, then makes of the answer what it were if the vendor had served what the recorder
/// serves.
int serveFreeBytes(size_t* freeBytes, const Next& next);

/// Calls `next`, then adds what was served instead of `pool` to its reserved and used bytes
/// (attributes 5 to 8, now and at most).
int servePoolAttribute(void* pool, int attribute, void* value, const Next& next);

/// Passes a call on in which memory is to leave the process, and says so if it was served.
int watchExport(const void* pointer, const Next& next);

/// Opens memory of another process, whose size `sizeOf` tells (0: it cannot): recorded as memory of
/// the vendor's until watchUnregister().
int watchImport(void** pointer, size_t (*sizeOf)(const void* pointer), const Next& next);

/// Passes on a copy or a fill, between recordings.
int watchTransfer(const Next& next);

/// Begins the capture of a stream into a graph, between recordings.
int watchCapture(const Next& next);
/// After the end of one, whatever its `status`, which is returned.
int captureEnded(int status) noexcept;
/// Whether any stream is being captured: nothing may be synchronised then.
bool isCapturingAny() noexcept;

/// Passes on work the recorder cannot record; `what` names it in the summary, once for each `key`.
int watchUnrecorded(const char* what, const void* key, const Next& next);

/// Whether an allocation in this stream is a graph's, or the vendor's to refuse; in the default
/// stream it never is.
bool isCapturingGraph(Backend& backend, void* stream) noexcept;

bool isServed(const void* pointer) noexcept;

/// Where the served memory around `inside` begins and how large it was asked for; false for other
/// memory.
bool servedRange(const void* inside, uint64_t& base, size_t& bytes) noexcept;

/// Row and total size of a pitched allocation; false if it is empty or does not fit into 64 bits.
bool pitchedSize(size_t width, size_t height, size_t depth, size_t pitchBytes, size_t& rowBytes,
                 size_t& bytes) noexcept;

} // namespace mneme::record
