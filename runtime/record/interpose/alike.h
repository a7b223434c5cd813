// Room record: functions that the vendors' runtimes have alike; their numbers and structures are
// the same.
#pragma once

#include "runtime/abi/mneme_rt.h"
#include "runtime/record/backends/vendor_runtime.h"
#include "runtime/record/launches_on_devices.h"
#include "runtime/record/loaded_code.h"
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

/// What makes memory known to another process.
struct MemoryHandle {
  char bytes[64];
};
/// Memory of another process becomes known here, and unknown.
template <auto Self, typename Pointer>
int openMemory(const char* name, Pointer* pointer, MemoryHandle handle, unsigned flags,
               size_t (*sizeOf)(const void* pointer)) {
  return watchImport(reinterpret_cast<void**>(pointer), sizeOf,
                     [&] { return forward<Self>(name, pointer, handle, flags); });
}
template <auto Self, typename Pointer> int closeMemory(const char* name, Pointer pointer) {
  return watchUnregister(reinterpret_cast<void*>(pointer),
                         [&] { return forward<Self>(name, pointer); });
}

/// The vendor's function, which copies or fills memory.
template <auto Self, typename... Args> int transfer(const char* name, Args... args) {
  return watchTransfer([&] { return forward<Self>(name, args...); });
}

/// A launch of code that the program loaded itself, as the drivers take it in one structure; as far
/// as it has to be known, what follows lies where mneme_launch::config has it.
struct DriverLaunch {
  mneme_dim3 grid, block;
  unsigned sharedBytes;
  void* stream;
};
int launchDriver(const DriverLaunch& config, void* stream, const void* function, void** args,
                 void** extra, const Next& next);

/// As far as the runtimes' structure of a launch has to be known.
struct RuntimeLaunch {
  mneme_dim3 grid, block;
  size_t sharedBytes;
  void* stream;
};

/// A launch past libmneme_rt: from code that was not built with mneme, or by a pointer to the
/// vendor's function.
int watchKernel(const LoadedLaunch& launch, const Next& next);
int watchKernel(const RuntimeLaunch* config, void* stream, const void* kernel, void** args,
                const Next& next);

/// One of the launches on several devices by one call, as the runtimes take them.
struct RuntimeDeviceLaunch {
  static constexpr const char* kWhyUnknown = kNotBuilt;
  const void* function;
  mneme_dim3 grid, block;
  void** args;
  size_t sharedBytes;
  void* stream;
};
/// As the drivers do.
struct DriverDeviceLaunch {
  static constexpr const char* kWhyUnknown = kUnknown;
  const void* function;
  mneme_dim3 grid, block;
  unsigned sharedBytes;
  void* stream;
  void** args;
};

/// Such a call; `mustMatch` as in CallOnDevices, which holds for all cooperative ones.
enum class Together { Apart, Matching, Cooperative };

/// The vendor's function, which launches on each of several devices.
template <auto Self, typename Launch, typename Count>
int launchOnDevices(const char* name, Launch* launches, Count count, unsigned flags,
                    Together together) {
  const CallOnDevices call{.read =
                               [](const void* all, size_t index) {
                                 const Launch& one = static_cast<const Launch*>(all)[index];
                                 return LoadedLaunch{.function = one.function,
                                                     .grid = one.grid,
                                                     .block = one.block,
                                                     .sharedBytes = one.sharedBytes,
                                                     .stream = one.stream,
                                                     .args = one.args};
                               },
                           .launches = launches,
                           .count = int64_t{count},
                           .flags = flags,
                           .whyUnknown = Launch::kWhyUnknown,
                           .isCooperative = together == Together::Cooperative,
                           .mustMatch = together != Together::Apart};
  return launchOnDevices(
      call, [&] { return forward<Self>(name, launches, count, flags); },
      [&](size_t index) { return forward<Self>(name, launches + index, Count{1}, flags); });
}

} // namespace mneme::record
