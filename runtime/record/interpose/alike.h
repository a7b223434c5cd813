// Room record: functions that the vendors' runtimes have alike; their numbers and structures are
// the same.
#pragma once

#include "runtime/record/backends/vendor_runtime.h"
#include "runtime/record/served_memory.h"

namespace mneme::record {

inline constexpr unsigned kHostAllocFlags = 7; ///< all there are

struct Extent {
  size_t width, height, depth;
};
struct PitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};

/// An allocation of rows whose distance the vendor chooses: `pitch` is set where it is served.
int servePitched(void** pointer, size_t* pitch, Extent extent, const Next& next);
int servePitched(PitchedPtr* pitched, Extent extent, const Next& next);
/// Managed memory; the vendor refuses flags that make no sense.
int serveManaged(void** pointer, size_t bytes, unsigned flags, const Next& next);
/// The pool that allocations in a stream's order are taken from on the current device, or null.
void* poolOfCurrentDevice(int (*poolOfDevice)(void** pool, int device)) noexcept;

/// A launch past libmneme_rt.
int watchKernel(const void* kernel, const Next& next);

} // namespace mneme::record
