// Copies and fills of the CUDA driver API.
#include <cstdint>

#include "runtime/core/abi/cpu_driver_services.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/types.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;
using mneme::cpu_runtime::CopyKind;
using mneme::cpu_runtime::Memcpy3DParms;

namespace {

/// One side of a CUDA_MEMCPY2D.
struct PlaneSide {
  size_t x; ///< bytes
  size_t y;
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
  void* array;
  size_t pitch;
};

struct Copy2D {
  PlaneSide source;
  PlaneSide destination;
  size_t width; ///< bytes
  size_t height;
};
static_assert(sizeof(Copy2D) == 128);

/// One side of a CUDA_MEMCPY3D; of a CUDA_MEMCPY3D_PEER, whose context stands in the reserved
/// place.
struct VolumeSide {
  size_t x; ///< bytes
  size_t y, z, lod;
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
  void* array;
  void* reserved;
  size_t pitch;
  size_t height;
};

struct Copy3D {
  VolumeSide source;
  VolumeSide destination;
  size_t width; ///< bytes
  size_t height;
  size_t depth;
};
static_assert(sizeof(Copy3D) == 200);

/// Null for an array.
template <typename Side> char* baseOf(const Side& side) {
  if (side.type == CU_MEMORYTYPE_ARRAY)
    return nullptr;
  return static_cast<char*>(side.type == CU_MEMORYTYPE_HOST ? side.host : asPointer(side.device));
}

/// Nobody needs a pitch for a single row.
size_t pitchOf(size_t pitch, size_t width) { return pitch ? pitch : width; }

char* startOf(const PlaneSide& side, size_t pitch) {
  return baseOf(side) + side.y * pitch + side.x;
}

template <typename Copy> int copyPlane(const Copy2D* params, Copy&& copy) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  const auto& [source, destination, width, height] = *params;
  if (!baseOf(source) || !baseOf(destination))
    return source.type == CU_MEMORYTYPE_ARRAY || destination.type == CU_MEMORYTYPE_ARRAY
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_ERROR_INVALID_VALUE;
  const size_t from = pitchOf(source.pitch, width), to = pitchOf(destination.pitch, width);
  return copy(static_cast<void*>(startOf(destination, to)), to,
              static_cast<const void*>(startOf(source, from)), from, width, height,
              CopyKind::Default);
}

mneme::cpu_runtime::PitchedPtr pitched(const VolumeSide& side, const Copy3D& copy) {
  const size_t pitch = pitchOf(side.pitch, copy.width);
  const size_t rows = side.height ? side.height : copy.height;
  return {baseOf(side) + (side.z * rows + side.y) * pitch + side.x, pitch, copy.width, rows};
}

template <typename Copy> int copyVolume(const Copy3D* params, Copy&& copy) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  if (!baseOf(params->source) || !baseOf(params->destination))
    return params->source.type == CU_MEMORYTYPE_ARRAY ||
                   params->destination.type == CU_MEMORYTYPE_ARRAY
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_ERROR_INVALID_VALUE;
  Memcpy3DParms parms{};
  parms.srcPtr = pitched(params->source, *params);
  parms.dstPtr = pitched(params->destination, *params);
  parms.extent = {params->width, params->height, params->depth};
  parms.kind = CopyKind::Default;
  return copy(static_cast<const Memcpy3DParms*>(&parms));
}

int copy(void* destination, const void* source, size_t bytes, CopyKind kind) {
  return forward<"cudaMemcpy">(destination, source, bytes, kind);
}

int copyOn(void* stream, void* destination, const void* source, size_t bytes, CopyKind kind) {
  return forward<"cudaMemcpyAsync">(destination, source, bytes, kind, stream);
}

template <typename Element>
int fill(CUdeviceptr destination, Element value, size_t count, void* stream) {
  return driverStatus(mneme_cudart_fill(asPointer(destination), count * sizeof(Element), value,
                                        sizeof(Element), count, 1, stream));
}

template <typename Element>
int fillPlane(CUdeviceptr destination, size_t pitch, Element value, size_t width, size_t height,
              void* stream) {
  return driverStatus(mneme_cudart_fill(asPointer(destination), pitch, value, sizeof(Element),
                                        width, height, stream));
}

} // namespace

MNEME_RUNTIME_API int cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return copy(asPointer(destination), asPointer(source), bytes, CopyKind::Default);
}

MNEME_RUNTIME_API int cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                    void* stream) {
  return copyOn(stream, asPointer(destination), asPointer(source), bytes, CopyKind::Default);
}

MNEME_RUNTIME_API int cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, size_t bytes) {
  return copy(asPointer(destination), source, bytes, CopyKind::HostToDevice);
}

MNEME_RUNTIME_API int cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, size_t bytes) {
  return copy(destination, asPointer(source), bytes, CopyKind::DeviceToHost);
}

MNEME_RUNTIME_API int cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return copy(asPointer(destination), asPointer(source), bytes, CopyKind::DeviceToDevice);
}

MNEME_RUNTIME_API int cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source,
                                           size_t bytes, void* stream) {
  return copyOn(stream, asPointer(destination), source, bytes, CopyKind::HostToDevice);
}

MNEME_RUNTIME_API int cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, size_t bytes,
                                           void* stream) {
  return copyOn(stream, destination, asPointer(source), bytes, CopyKind::DeviceToHost);
}

MNEME_RUNTIME_API int cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source,
                                           size_t bytes, void* stream) {
  return copyOn(stream, asPointer(destination), asPointer(source), bytes, CopyKind::DeviceToDevice);
}

MNEME_RUNTIME_API int cuMemcpyPeer(CUdeviceptr destination, void*, CUdeviceptr source, void*,
                                   size_t bytes) {
  return cuMemcpy(destination, source, bytes);
}

MNEME_RUNTIME_API int cuMemcpyPeerAsync(CUdeviceptr destination, void*, CUdeviceptr source, void*,
                                        size_t bytes, void* stream) {
  return cuMemcpyAsync(destination, source, bytes, stream);
}

MNEME_RUNTIME_API int cuMemcpy2D_v2(const Copy2D* params) {
  return copyPlane(params, [](auto... args) { return forward<"cudaMemcpy2D">(args...); });
}

MNEME_RUNTIME_API int cuMemcpy2DAsync_v2(const Copy2D* params, void* stream) {
  return copyPlane(params,
                   [&](auto... args) { return forward<"cudaMemcpy2DAsync">(args..., stream); });
}

MNEME_RUNTIME_API int cuMemcpy3D_v2(const Copy3D* params) {
  return copyVolume(params, [](auto parms) { return forward<"cudaMemcpy3D">(parms); });
}

MNEME_RUNTIME_API int cuMemcpy3DAsync_v2(const Copy3D* params, void* stream) {
  return copyVolume(params,
                    [&](auto parms) { return forward<"cudaMemcpy3DAsync">(parms, stream); });
}

MNEME_RUNTIME_API int cuMemsetD8_v2(CUdeviceptr destination, uint8_t value, size_t count) {
  return fill(destination, value, count, nullptr);
}

MNEME_RUNTIME_API int cuMemsetD16_v2(CUdeviceptr destination, uint16_t value, size_t count) {
  return fill(destination, value, count, nullptr);
}

MNEME_RUNTIME_API int cuMemsetD32_v2(CUdeviceptr destination, uint32_t value, size_t count) {
  return fill(destination, value, count, nullptr);
}

MNEME_RUNTIME_API int cuMemsetD8Async(CUdeviceptr destination, uint8_t value, size_t count,
                                      void* stream) {
  return fill(destination, value, count, stream);
}

MNEME_RUNTIME_API int cuMemsetD16Async(CUdeviceptr destination, uint16_t value, size_t count,
                                       void* stream) {
  return fill(destination, value, count, stream);
}

MNEME_RUNTIME_API int cuMemsetD32Async(CUdeviceptr destination, uint32_t value, size_t count,
                                       void* stream) {
  return fill(destination, value, count, stream);
}

MNEME_RUNTIME_API int cuMemsetD2D8_v2(CUdeviceptr destination, size_t pitch, uint8_t value,
                                      size_t width, size_t height) {
  return fillPlane(destination, pitch, value, width, height, nullptr);
}

MNEME_RUNTIME_API int cuMemsetD2D16_v2(CUdeviceptr destination, size_t pitch, uint16_t value,
                                       size_t width, size_t height) {
  return fillPlane(destination, pitch, value, width, height, nullptr);
}

MNEME_RUNTIME_API int cuMemsetD2D32_v2(CUdeviceptr destination, size_t pitch, uint32_t value,
                                       size_t width, size_t height) {
  return fillPlane(destination, pitch, value, width, height, nullptr);
}

MNEME_RUNTIME_API int cuMemsetD2D8Async(CUdeviceptr destination, size_t pitch, uint8_t value,
                                        size_t width, size_t height, void* stream) {
  return fillPlane(destination, pitch, value, width, height, stream);
}

MNEME_RUNTIME_API int cuMemsetD2D16Async(CUdeviceptr destination, size_t pitch, uint16_t value,
                                         size_t width, size_t height, void* stream) {
  return fillPlane(destination, pitch, value, width, height, stream);
}

MNEME_RUNTIME_API int cuMemsetD2D32Async(CUdeviceptr destination, size_t pitch, uint32_t value,
                                         size_t width, size_t height, void* stream) {
  return fillPlane(destination, pitch, value, width, height, stream);
}
