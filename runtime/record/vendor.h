// Room record: what the recorder needs of a vendor's runtime, as data. Filled in by interpose/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/abi/mneme_rt.h"
#include "runtime/record/device_access.h"
#include "runtime/record/memory_backend.h"

namespace mneme::record {

/// How programs are linked with the vendor's shared runtime: "-l...".
extern const char* const kSharedRuntimeHint;

/// How a launch differs from a plain one.
struct LaunchTraits {
  bool isCooperative = false;
  mneme_dim3 cluster{1, 1, 1}; ///< blocks per cluster
};

/// Functions may be null where the runtime has none; statuses are the vendor's, 0 is success.
struct Vendor {
  std::string deviceKind;                   ///< "cuda"
  std::vector<std::string> runtimePrefixes; ///< file names of its shared runtimes begin so
  /// File names of libraries with kernels and a runtime of their own begin so.
  std::vector<std::string> kernelLibraries;
  bool isCpuDevice = false;          ///< the runtime is mneme's own, on the CPU device
  uint64_t windowBytes = 4ull << 30; ///< of the address window, where the user does not say

  int (*deviceSynchronize)() = nullptr; ///< never null
  int (*getDevice)(int* device) = nullptr;
  int (*symbolAddress)(void** address, const void* hostShadow) = nullptr;
  int (*streamIsCapturing)(void* stream, int* status) = nullptr;
  /// Makes the runtime load a kernel now rather than at its first launch; failures do not matter.
  void (*prepareKernel)(const void* kernel) = nullptr;
  LaunchTraits (*launchTraits)(const mneme_launch& launch) = nullptr;
  /// The stream of a launch, as streamIsCapturing takes it.
  void* (*streamOf)(const mneme_launch& launch) = nullptr;

  // The CPU device's runtime is told about memory we allocate; kind 0 device, 1 managed, 2 host.
  // Status 0, or the program has had all there is.
  int (*adopt)(const void* base, size_t sizeBytes, int kind) = nullptr;
  void (*disown)(const void* base) = nullptr;
  // It also tells where variables are that the host program cannot name. Status 0 is success.
  using VisitGlobal = void (*)(void* user, const char* name, void* address, size_t sizeBytes);
  int (*visitGlobals)(const void* kernel, VisitGlobal visit, void* user) = nullptr;
  /// Those of the whole program that have their content; null where the runtime cannot tell.
  void (*visitAllGlobals)(VisitGlobal visit, void* user) = nullptr;
  /// Where such a variable of this name is, on a GPU.
  int (*findGlobal)(const void* kernel, const char* name, void** address,
                    size_t* sizeBytes) = nullptr;

  // A GPU.
  /// Makes sure that this thread works in a context in which memory can be placed.
  int (*prepareContext)() = nullptr;
  /// As deviceSynchronize(), of any device.
  int (*synchronizeDevice)(unsigned device) = nullptr;
  MakeBackend makeBackend; ///< empty: memory cannot be placed
  std::function<std::unique_ptr<DeviceAccess>(unsigned device)> makeAccess;
  /// Whether any stream is being captured into a graph: nothing may be synchronised then.
  bool (*isCapturingAny)() = nullptr;
  /// A mark behind the work a stream has now; null if there can be none.
  void* (*markStream)(void* stream) = nullptr;
  /// Makes a stream wait for that work, on the device. False if it cannot.
  bool (*waitOnStream)(void* stream, void* mark) = nullptr;
  /// Whether that work is done (after waiting for it, if asked); the mark is then gone.
  bool (*isMarkPassed)(void* mark, bool shallWait) = nullptr;
};

/// The runtime this process uses, looked up at the first call. Null if there is none.
const Vendor* findVendor() noexcept;

} // namespace mneme::record
