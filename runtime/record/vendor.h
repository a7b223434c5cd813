// Room record: what the recorder needs of a vendor's runtime, as data. Filled in by interpose/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/jit/mneme_rt.h"

namespace mneme::record {

/// How a launch differs from a plain one.
struct LaunchTraits {
  bool isCooperative = false;
  bool hasCluster = false; ///< more than one block per cluster
};

/// Functions may be null where the runtime has none; statuses are the vendor's, 0 is success.
struct Vendor {
  std::string deviceKind;                   ///< "cuda"
  std::vector<std::string> runtimePrefixes; ///< file names of its shared runtimes begin so
  bool isCpuDevice = false;                 ///< the runtime is mneme's own, on the CPU device

  int (*deviceSynchronize)() = nullptr; ///< never null
  int (*getDevice)(int* device) = nullptr;
  int (*symbolAddress)(void** address, const void* hostShadow) = nullptr;
  int (*streamIsCapturing)(void* stream, int* status) = nullptr;
  /// Makes the runtime load a kernel now rather than at its first launch; failures do not matter.
  void (*prepareKernel)(const void* kernel) = nullptr;
  LaunchTraits (*launchTraits)(const mneme_launch& launch) = nullptr;

  // The CPU device's runtime is told about memory we allocate; kind 0 device, 1 managed, 2 host.
  void (*adopt)(const void* base, size_t sizeBytes, int kind) = nullptr;
  void (*disown)(const void* base) = nullptr;
  // It also tells where variables are that the host program cannot name. Status 0 is success.
  using VisitGlobal = void (*)(void* user, const char* name, void* address, size_t sizeBytes);
  int (*visitGlobals)(const void* kernel, VisitGlobal visit, void* user) = nullptr;
};

/// The runtime this process uses, looked up at the first call. Null if there is none.
const Vendor* findVendor() noexcept;

} // namespace mneme::record
