// Room recorder: functions that exist in all vendors' runtimes with the same numbers and
// structures.
#pragma once

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/recorder/backends/vendor_runtime.h"
#include "runtime/recorder/graph_launches.h"
#include "runtime/recorder/launches_on_devices.h"
#include "runtime/recorder/loaded_code.h"
#include "runtime/recorder/served_memory.h"

namespace mneme::record {

inline constexpr unsigned kHostAllocFlags = 7; ///< all that exist

struct Extent {
  size_t width, height, depth;
};
struct PitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};

/// Serves an allocation of rows with a pitch; sets `pitch` if it serves it.
int servePitched(void** pointer, size_t* pitch, Extent extent, const Next& next);
int servePitched(PitchedPtr* pitched, Extent extent, const Next& next);
/// Serves managed memory; leaves refusing invalid flags to the vendor.
int serveManaged(void** pointer, size_t bytes, unsigned flags, const Next& next);
/// Returns the pool of the current device for stream-ordered allocations, or null.
void* poolOfCurrentDevice(int (*poolOfDevice)(void** pool, int device)) noexcept;

/// A handle that shares memory with another process.
struct MemoryHandle {
  char bytes[64];
};
/// Opens and closes memory of another process.
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

/// Calls the vendor's function, which copies or fills memory.
template <auto Self, typename... Args> int transfer(const char* name, Args... args) {
  return watchTransfer([&] { return forward<Self>(name, args...); });
}

/// Calls the vendor's function, which changes a node of an executable graph. The recorder's copy of
/// the graph is changed by `inGraph`, which changes a node of a graph.
template <auto Self, typename... Args>
int changeNode(const char* name, const char* inGraph, void* exec, void* node, Args... args) {
  const auto changeCopy = [&](void* copy) {
    const auto function = find<int (*)(void*, Args...)>(inGraph);
    return function ? function(copy, args...) : kInitializationError;
  };
  return watchExecChange(exec, node, changeCopy,
                         [&] { return forward<Self>(name, exec, node, args...); });
}

/// The drivers' structure for a launch of code that the program loaded itself. Declares only the
/// members that mneme needs; those that follow are laid out as in mneme_launch::config.
struct DriverLaunch {
  mneme_dim3 grid, block;
  unsigned sharedBytes;
  void* stream;
};
int launchDriver(const DriverLaunch& config, void* stream, const void* function, void** args,
                 void** extra, const Next& next);

/// The runtimes' structure for a launch, with only the members that mneme needs.
struct RuntimeLaunch {
  mneme_dim3 grid, block;
  size_t sharedBytes;
  void* stream;
};

/// Handles a launch that bypasses libmneme_rt: from code that was not built with mneme, or through
/// a pointer to the vendor's function.
int watchKernel(const LoadedLaunch& launch, const Next& next);
int watchKernel(const RuntimeLaunch* config, void* stream, const void* kernel, void** args,
                const Next& next);

/// One launch of a call that launches on several devices, in the runtimes' layout.
struct RuntimeDeviceLaunch {
  static constexpr const char* kWhyUnknown = kNotBuilt;
  const void* function;
  mneme_dim3 grid, block;
  void** args;
  size_t sharedBytes;
  void* stream;
};
/// The same in the drivers' layout.
struct DriverDeviceLaunch {
  static constexpr const char* kWhyUnknown = kUnknown;
  const void* function;
  mneme_dim3 grid, block;
  unsigned sharedBytes;
  void* stream;
  void** args;
};

/// The kind of such a call. Matching and Cooperative set CallOnDevices::mustMatch.
enum class Together { Apart, Matching, Cooperative };

/// Calls the vendor's function, which launches on each of several devices.
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
