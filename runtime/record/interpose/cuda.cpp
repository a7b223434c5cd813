// Room record: the CUDA Runtime API. Only names, signatures and constants of the vendor; what is
// done about them is in ../served_memory.h.
#include <array>
#include <limits>

#include "runtime/record/exported.h"
#include "runtime/record/next_symbol.h"
#include "runtime/record/served_memory.h"
#include "runtime/record/vendor.h"

using namespace mneme::record;
using mneme::artifact::RegionKind;

namespace {

constexpr size_t kPitchBytes = 512; // what NVIDIA devices round rows to
constexpr int kInitializationError = 3;
constexpr uint32_t kAttributeCooperative = 2;
constexpr uint32_t kAttributeClusterDimension = 4;
constexpr unsigned kAttachGlobal = 1, kAttachHost = 2;
constexpr unsigned kHostAllocFlags = 7;

struct Extent {
  size_t width, height, depth;
};
struct PitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct LaunchAttribute {
  uint32_t id;
  char padding[4];
  union {
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
    char reserved[64];
  };
};
struct LaunchConfig {
  unsigned grid[3], block[3];
  size_t sharedBytes;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attributeCount;
};

/// Shared runtimes an application may have opened for itself, out of the global scope.
constexpr std::array<const char*, 3> kRuntimes = {"libcudart.so.13", "libcudart.so.12",
                                                  "libcudart.so.11.0"};

template <typename Function> Function find(const char* name) {
  return reinterpret_cast<Function>(nextSymbol(name, kRuntimes));
}

/// The vendor's function of this name, looked up once. `Self` is the function that stands in for
/// it. Its absence is an uninitialised runtime.
template <auto Self, typename... Args> int forward(const char* name, Args... args) {
  static const auto next = find<decltype(Self)>(name);
  return next ? next(args...) : kInitializationError;
}

LaunchTraits traitsOf(const mneme_launch& launch) {
  LaunchTraits traits;
  traits.isCooperative = launch.form == MNEME_LAUNCH_COOPERATIVE;
  const auto* config = static_cast<const LaunchConfig*>(launch.config);
  for (unsigned index = 0; config && config->attributes && index < config->attributeCount;
       ++index) {
    const LaunchAttribute& attribute = config->attributes[index];
    if (attribute.id == kAttributeCooperative)
      traits.isCooperative = attribute.cooperative != 0;
    if (attribute.id == kAttributeClusterDimension)
      traits.hasCluster =
          size_t{attribute.cluster.x} * attribute.cluster.y * attribute.cluster.z > 1;
  }
  return traits;
}

void prepareKernel(const void* kernel) {
  static const auto attributesOf = find<int (*)(void*, const void*)>("cudaFuncGetAttributes");
  alignas(16) std::array<char, 1024> attributes; // the struct has 144 bytes in CUDA 13 and grows
  if (attributesOf)
    attributesOf(attributes.data(), kernel);
}

} // namespace

namespace mneme::record {

const Vendor* findVendor() noexcept {
  static const Vendor* vendor = []() -> const Vendor* {
    auto* found = new Vendor;
    found->deviceKind = "cuda";
    found->runtimePrefixes = {"libcudart.so", "libmneme_cudart.so"};
    found->deviceSynchronize = find<int (*)()>("cudaDeviceSynchronize");
    found->getDevice = find<int (*)(int*)>("cudaGetDevice");
    found->symbolAddress = find<int (*)(void**, const void*)>("cudaGetSymbolAddress");
    found->streamIsCapturing = find<int (*)(void*, int*)>("cudaStreamIsCapturing");
    found->launchTraits = traitsOf;
    found->adopt = find<void (*)(const void*, size_t, int)>("mneme_cudart_adopt");
    found->disown = find<void (*)(const void*)>("mneme_cudart_disown");
    found->visitGlobals =
        find<int (*)(const void*, Vendor::VisitGlobal, void*)>("mneme_cudart_visit_globals");
    found->isCpuDevice = found->adopt && found->disown;
    // On the CPU device attributes are known before a kernel is compiled: asking prepares nothing.
    found->prepareKernel =
        found->isCpuDevice ? find<void (*)(const void*)>("mneme_cudart_prepare") : prepareKernel;
    return found->deviceSynchronize ? found : nullptr;
  }();
  return vendor;
}

} // namespace mneme::record

MNEME_RECORD_API int cudaMalloc(void** pointer, size_t bytes) {
  return serve(pointer, bytes, RegionKind::Allocation,
               [&] { return forward<cudaMalloc>("cudaMalloc", pointer, bytes); });
}

MNEME_RECORD_API int cudaMallocAsync(void** pointer, size_t bytes, void* stream) {
  return serveOrdered(pointer, bytes, stream, [&] {
    return forward<cudaMallocAsync>("cudaMallocAsync", pointer, bytes, stream);
  });
}

MNEME_RECORD_API int cudaMallocAsync_ptsz(void** pointer, size_t bytes, void* stream) {
  return serveOrdered(pointer, bytes, stream, [&] {
    return forward<cudaMallocAsync_ptsz>("cudaMallocAsync_ptsz", pointer, bytes, stream);
  });
}

MNEME_RECORD_API int cudaMallocFromPoolAsync(void** pointer, size_t bytes, void* pool,
                                             void* stream) {
  return serveOrdered(pointer, bytes, stream, [&] {
    return forward<cudaMallocFromPoolAsync>("cudaMallocFromPoolAsync", pointer, bytes, pool,
                                            stream);
  });
}

MNEME_RECORD_API int cudaMallocFromPoolAsync_ptsz(void** pointer, size_t bytes, void* pool,
                                                  void* stream) {
  return serveOrdered(pointer, bytes, stream, [&] {
    return forward<cudaMallocFromPoolAsync_ptsz>("cudaMallocFromPoolAsync_ptsz", pointer, bytes,
                                                 pool, stream);
  });
}

MNEME_RECORD_API int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  const auto next = [&] {
    return forward<cudaMallocPitch>("cudaMallocPitch", pointer, pitch, width, height);
  };
  size_t rowBytes = 0, bytes = 0;
  if (!pitch || !pitchedSize(width, height, 1, kPitchBytes, rowBytes, bytes))
    return next();
  const int status = serve(pointer, bytes, RegionKind::Allocation, next);
  if (status == 0 && isServed(*pointer))
    *pitch = rowBytes;
  return status;
}

MNEME_RECORD_API int cudaMalloc3D(PitchedPtr* pitched, Extent extent) {
  const auto next = [&] { return forward<cudaMalloc3D>("cudaMalloc3D", pitched, extent); };
  size_t rowBytes = 0, bytes = 0;
  if (!pitched ||
      !pitchedSize(extent.width, extent.height, extent.depth, kPitchBytes, rowBytes, bytes))
    return next();
  const int status = serve(&pitched->ptr, bytes, RegionKind::Allocation, next);
  if (status == 0 && isServed(pitched->ptr))
    *pitched = {pitched->ptr, rowBytes, extent.width, extent.height};
  return status;
}

MNEME_RECORD_API int cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  const auto next = [&] {
    return forward<cudaMallocManaged>("cudaMallocManaged", pointer, bytes, flags);
  };
  if (flags != kAttachGlobal && flags != kAttachHost)
    return next();
  return serve(pointer, bytes, RegionKind::Managed, next);
}

MNEME_RECORD_API int cudaMallocHost(void** pointer, size_t bytes) {
  return serve(pointer, bytes, RegionKind::HostPinned,
               [&] { return forward<cudaMallocHost>("cudaMallocHost", pointer, bytes); });
}

MNEME_RECORD_API int cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  const auto next = [&] { return forward<cudaHostAlloc>("cudaHostAlloc", pointer, bytes, flags); };
  if (flags & ~kHostAllocFlags)
    return next();
  return serve(pointer, bytes, RegionKind::HostPinned, next);
}

MNEME_RECORD_API int cudaFree(void* pointer) {
  return serveFree(pointer, FreeKind::Device,
                   [&] { return forward<cudaFree>("cudaFree", pointer); });
}

MNEME_RECORD_API int cudaFreeAsync(void* pointer, void* stream) {
  return serveFree(pointer, FreeKind::Device,
                   [&] { return forward<cudaFreeAsync>("cudaFreeAsync", pointer, stream); });
}

MNEME_RECORD_API int cudaFreeAsync_ptsz(void* pointer, void* stream) {
  return serveFree(pointer, FreeKind::Device, [&] {
    return forward<cudaFreeAsync_ptsz>("cudaFreeAsync_ptsz", pointer, stream);
  });
}

MNEME_RECORD_API int cudaFreeHost(void* pointer) {
  return serveFree(pointer, FreeKind::Host,
                   [&] { return forward<cudaFreeHost>("cudaFreeHost", pointer); });
}

MNEME_RECORD_API int cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return watchRegister(pointer, bytes, [&] {
    return forward<cudaHostRegister>("cudaHostRegister", pointer, bytes, flags);
  });
}

MNEME_RECORD_API int cudaHostUnregister(void* pointer) {
  return watchUnregister(
      pointer, [&] { return forward<cudaHostUnregister>("cudaHostUnregister", pointer); });
}

MNEME_RECORD_API int cudaDeviceReset() {
  return serveReset([] { return forward<cudaDeviceReset>("cudaDeviceReset"); });
}

MNEME_RECORD_API int cudaThreadExit() {
  return serveReset([] { return forward<cudaThreadExit>("cudaThreadExit"); });
}
