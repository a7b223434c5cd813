#include <algorithm>
#include <cstdint>

#include <dlfcn.h>

#include "runtime/record/backends/cuda/gpu.h"
#include "runtime/record/interpose/cpu_device.h"
#include "runtime/record/interpose/vendor_runtime.h"
#include "runtime/record/vendor.h"

namespace mneme::record {
namespace {

using namespace device::cuda;

LaunchTraits traitsOf(const mneme_launch& launch) {
  LaunchTraits traits;
  traits.isCooperative = launch.form == MNEME_LAUNCH_COOPERATIVE;
  const auto* config = static_cast<const RuntimeLaunchConfig*>(launch.config);
  for (unsigned index = 0; config && config->attributes && index < config->attributeCount;
       ++index) {
    const CUlaunchAttribute& attribute = config->attributes[index];
    const auto& cluster = attribute.value.clusterDim;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      traits.isCooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      traits.cluster = {std::max(1u, cluster.x), std::max(1u, cluster.y), std::max(1u, cluster.z)};
  }
  return traits;
}

/// Whether the launch was written against a function for which stream 0 is the thread's own.
bool isPerThread(const void* vendorEntry) {
  for (const char* name :
       {"cudaLaunchKernel_ptsz", "cudaLaunchCooperativeKernel_ptsz", "cudaLaunchKernelExC_ptsz"})
    // A position-dependent program names a function by a stub of its own, which the first finds.
    if (vendorEntry &&
        (vendorEntry == dlsym(RTLD_DEFAULT, name) || vendorEntry == find<void*>(name)))
      return true;
  return false;
}

void* streamOf(const mneme_launch& launch) {
  if (launch.stream)
    return launch.stream;
  return isPerThread(launch.vendorEntry) ? perThreadStream(nullptr) : legacyStream(nullptr);
}

/// Our own calls of the runtime leave the error the application may ask for as it is.
KeepsLastError keepLastError() {
  static const auto peek = find<int (*)()>("cudaPeekAtLastError");
  static const auto clear = find<int (*)()>("cudaGetLastError");
  return {peek, clear};
}

void prepareKernel(const void* kernel) {
  static const auto attributesOf = find<int (*)(void*, const void*)>("cudaFuncGetAttributes");
  const KeepsLastError keeps = keepLastError();
  alignas(16) std::array<char, 1024> attributes; // the struct has 144 bytes in CUDA 13 and grows
  if (attributesOf)
    attributesOf(attributes.data(), kernel);
}

int symbolAddress(void** address, const void* hostShadow) {
  static const auto addressOf = find<int (*)(void**, const void*)>("cudaGetSymbolAddress");
  const KeepsLastError keeps = keepLastError();
  return addressOf ? addressOf(address, hostShadow) : kInitializationError;
}

int functionOf(void** function, const void* kernel) {
  static const auto ask = find<int (*)(void**, const void*)>("cudaGetFuncBySymbol");
  const KeepsLastError keeps = keepLastError();
  return ask ? ask(function, kernel) : kInitializationError;
}

int kernelOf(void** kernel, const void* handle) {
  static const auto ask = find<int (*)(void**, const void*)>("cudaGetKernel");
  const KeepsLastError keeps = keepLastError();
  return ask ? ask(kernel, handle) : kInitializationError;
}

} // namespace

const Vendor* findVendor() noexcept {
  static const Vendor* vendor = []() -> const Vendor* {
    auto* found = new Vendor;
    found->launchTraits = traitsOf;
    found->isCapturingAny = isCapturingAny;
    if (describeCpuDevice(*found))
      return found;
    found->deviceKind = "cuda";
    found->runtimePrefixes = {"libcudart.so", "librecord.so"};
    found->kernelLibraries = {"libcublas",   "libcudnn",    "libcufft", "libcurand",
                              "libcusolver", "libcusparse", "libnccl"};
    found->deviceSynchronize = find<int (*)()>("cudaDeviceSynchronize");
    found->getDevice = find<int (*)(int*)>("cudaGetDevice");
    found->symbolAddress = symbolAddress;
    if (!found->deviceSynchronize || !found->getDevice)
      return nullptr;
    found->streamOf = streamOf;
    found->prepareKernel = prepareKernel;
    gpu::RuntimeCalls calls;
    calls.free = find<int (*)(void*)>("cudaFree");
    calls.lookup = {functionOf, kernelOf};
    if (!calls.free)
      return nullptr;
    gpu::describeGpu(*found, calls);
    return found;
  }();
  return vendor;
}

} // namespace mneme::record
