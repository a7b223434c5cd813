// Kernel attributes.
#include <charconv>
#include <cstring>
#include <string_view>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/launch.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr int kAssumedRegisters = 32; // the CPU has no such notion; programs divide by it
constexpr int kAssumedVersion = 90;

/// The kernel with its IR found, or the reason why not.
Status lookUp(const void* function, std::shared_ptr<Kernel>& kernel) {
  kernel = findKernel(function);
  return kernel ? describe(*kernel) : Status::InvalidDeviceFunction;
}

/// The architecture that the kernel was compiled for: 80 for "sm_80". CUB launches nothing where it
/// is another than one of the program's.
int versionOf(const Kernel& kernel) {
  constexpr std::string_view kPrefix = "sm_";
  const std::string& name = kernel.blob->arch;
  int version = 0;
  if (name.starts_with(kPrefix))
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), version);
  return version ? version : kAssumedVersion;
}

template <typename Body> Status withKernel(const void* function, Body&& body) {
  return api([&] {
    std::shared_ptr<Kernel> kernel;
    const Status status = lookUp(function, kernel);
    return status == Status::Success ? body(*kernel) : status;
  });
}

size_t constantBytes(const Kernel& kernel) {
  size_t bytes = 0;
  for (const auto& global : kernel.blob->globals)
    bytes += global.isConstant ? global.sizeBytes : 0;
  return bytes;
}

Status setAttribute(Kernel& kernel, int attribute, int value) {
  if (attribute == kFuncMaxDynamicSharedMemorySize) {
    if (value < 0 || value + kernel.blob->sharedBytes > vendor.sharedPerBlockOptin)
      return Status::InvalidValue;
    kernel.maxDynamicSharedBytes = value;
    return Status::Success;
  }
  if (attribute == kFuncPreferredSharedMemoryCarveout) {
    if (value < -1 || value > 100)
      return Status::InvalidValue;
    kernel.carveout = value;
    return Status::Success;
  }
  const bool isKnown =
      attribute >= kFuncClusterDimMustBeSet && attribute <= kFuncClusterSchedulingPolicyPreference;
  return isKnown ? Status::Success : Status::InvalidValue;
}

} // namespace

MNEME_RUNTIME_API Status gpuFuncGetAttributes(FuncAttributes* attributes, const void* function) {
  return withKernel(function, [&](Kernel& kernel) {
    if (!attributes)
      return Status::InvalidValue;
    std::memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = kernel.blob->sharedBytes;
    attributes->constSizeBytes = constantBytes(kernel);
    attributes->maxThreadsPerBlock = maxThreadsPerBlock(kernel);
    attributes->numRegs = kAssumedRegisters;
    attributes->ptxVersion = attributes->binaryVersion = versionOf(kernel);
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(maxDynamicSharedBytes(kernel));
    attributes->preferredShmemCarveout = kernel.carveout;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuFuncSetAttribute(const void* function, int attribute, int value) {
  return withKernel(function,
                    [&](Kernel& kernel) { return setAttribute(kernel, attribute, value); });
}

MNEME_RUNTIME_API Status gpuKernelSetAttributeForDevice(const void* function, int attribute,
                                                        int value, int device) {
  return withKernel(function, [&](Kernel& kernel) {
    return device == 0 ? setAttribute(kernel, attribute, value) : Status::InvalidDevice;
  });
}

MNEME_RUNTIME_API Status gpuFuncSetCacheConfig(const void* function, int) {
  return withKernel(function, [](Kernel&) { return Status::Success; });
}

MNEME_RUNTIME_API Status gpuFuncSetSharedMemConfig(const void* function, int) {
  return withKernel(function, [](Kernel&) { return Status::Success; });
}

MNEME_RUNTIME_API Status gpuFuncGetName(const char** name, const void* function) {
  return api([&] {
    const auto kernel = findKernel(function);
    if (!name || !kernel)
      return kernel ? Status::InvalidValue : Status::InvalidDeviceFunction;
    *name = kernel->name.c_str();
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                             size_t* bytes) {
  return withKernel(function, [&](Kernel& kernel) {
    const auto& args = kernel.blob->args;
    if (!offset || index >= args.size())
      return Status::InvalidValue;
    size_t position = 0;
    for (size_t current = 0;; ++current) {
      const size_t alignment = args[current].alignBytes ? args[current].alignBytes : 1;
      position = (position + alignment - 1) / alignment * alignment;
      if (current == index)
        break;
      position += args[current].sizeBytes;
    }
    *offset = position;
    if (bytes)
      *bytes = args[index].sizeBytes;
    return Status::Success;
  });
}

/// Kernel and function handles are the address of the host stub: every function of this library
/// that takes a kernel takes them.
MNEME_RUNTIME_API Status gpuGetKernel(const void** kernel, const void* function) {
  return api([&] {
    if (!kernel)
      return Status::InvalidValue;
    *kernel = function;
    return findKernel(function) ? Status::Success : Status::InvalidDeviceFunction;
  });
}
