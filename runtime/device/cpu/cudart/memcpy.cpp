// Copies and fills of the CUDA Runtime API.
#include "runtime/device/cpu/cudart/copies.h"
#include "runtime/device/cpu/cudart/exported.h"
#include "runtime/device/cpu/cudart/status.h"
#include "runtime/device/cpu/cudart/stream.h"
#include "runtime/device/cpu/cudart/types.h"
#include "runtime/device/cpu/cudart/vendor.h"

using namespace mneme::cudart;

namespace {

bool isKind(CopyKind kind) {
  return (kind >= CopyKind::HostToHost && kind <= CopyKind::Default) ||
         (kind == CopyKind::DeviceToDeviceByEngine && vendor.copiesByEngine);
}

Status copy(void* destination, const void* source, size_t bytes, CopyKind kind) {
  return isKind(kind) ? copyBytes(destination, source, bytes) : Status::InvalidMemcpyDirection;
}

Block3D plane(const void* base, size_t pitch) { return {const_cast<void*>(base), pitch, 0}; }

Status copy2D(void* destination, size_t destinationPitch, const void* source, size_t sourcePitch,
              size_t width, size_t height, CopyKind kind) {
  if (!isKind(kind))
    return Status::InvalidMemcpyDirection;
  return copyBlock(plane(destination, destinationPitch), plane(source, sourcePitch), width, height,
                   1);
}

Block3D placed(const PitchedPtr& memory, const Pos& position) {
  const size_t slice = memory.pitch * memory.ysize;
  char* base = static_cast<char*>(memory.ptr);
  return {base ? base + position.z * slice + position.y * memory.pitch + position.x : nullptr,
          memory.pitch, slice};
}

template <typename Parameters> Status copy3D(const Parameters* p) {
  if (!p)
    return Status::InvalidValue;
  if (p->srcArray || p->dstArray) {
    mneme::cudart::statusOf(mneme::Error(mneme::ErrorCode::Unsupported,
                                         "3-D copies from and to arrays are not supported on the "
                                         "CPU device"));
    return Status::NotSupported;
  }
  return copyBlock(placed(p->dstPtr, p->dstPos), placed(p->srcPtr, p->srcPos), p->extent.width,
                   p->extent.height, p->extent.depth);
}

Status copyChecked3D(const Memcpy3DParms* p) {
  return p && !isKind(p->kind) ? Status::InvalidMemcpyDirection : copy3D(p);
}

Status fill(void* destination, int value, size_t bytes) {
  return fillBlock(plane(destination, bytes), value, bytes, 1, 1);
}

Status fill3D(const PitchedPtr& memory, int value, const Extent& extent) {
  return fillBlock(placed(memory, {0, 0, 0}), value, extent.width, extent.height, extent.depth);
}

template <typename Body> Status on(void* stream, Body&& body) {
  return api([&] { return isStream(stream) ? body() : Status::InvalidResourceHandle; });
}

Status checkPeers(int first, int second) {
  return first == 0 && second == 0 ? Status::Success : Status::InvalidDevice;
}

} // namespace

MNEME_CUDA_API Status cudaMemcpy(void* destination, const void* source, size_t bytes,
                                 CopyKind kind) {
  return synchronising([&] { return copy(destination, source, bytes, kind); });
}

MNEME_CUDA_API Status cudaMemcpyAsync(void* destination, const void* source, size_t bytes,
                                      CopyKind kind, void* stream) {
  return on(stream, [&] { return copy(destination, source, bytes, kind); });
}

MNEME_CUDA_API Status cudaMemcpyPeer(void* destination, int destinationDevice, const void* source,
                                     int sourceDevice, size_t bytes) {
  return synchronising([&] {
    const Status bad = checkPeers(destinationDevice, sourceDevice);
    return bad == Status::Success ? copyBytes(destination, source, bytes) : bad;
  });
}

MNEME_CUDA_API Status cudaMemcpyPeerAsync(void* destination, int destinationDevice,
                                          const void* source, int sourceDevice, size_t bytes,
                                          void* stream) {
  return on(stream, [&] {
    const Status bad = checkPeers(destinationDevice, sourceDevice);
    return bad == Status::Success ? copyBytes(destination, source, bytes) : bad;
  });
}

MNEME_CUDA_API Status cudaMemcpy2D(void* destination, size_t destinationPitch, const void* source,
                                   size_t sourcePitch, size_t width, size_t height, CopyKind kind) {
  return synchronising([&] {
    return copy2D(destination, destinationPitch, source, sourcePitch, width, height, kind);
  });
}

MNEME_CUDA_API Status cudaMemcpy2DAsync(void* destination, size_t destinationPitch,
                                        const void* source, size_t sourcePitch, size_t width,
                                        size_t height, CopyKind kind, void* stream) {
  return on(stream, [&] {
    return copy2D(destination, destinationPitch, source, sourcePitch, width, height, kind);
  });
}

MNEME_CUDA_API Status cudaMemcpy3D(const Memcpy3DParms* parameters) {
  return synchronising([&] { return copyChecked3D(parameters); });
}

MNEME_CUDA_API Status cudaMemcpy3DAsync(const Memcpy3DParms* parameters, void* stream) {
  return on(stream, [&] { return copyChecked3D(parameters); });
}

MNEME_CUDA_API Status cudaMemcpy3DPeer(const Memcpy3DPeerParms* parameters) {
  return synchronising([&] { return copy3D(parameters); });
}

MNEME_CUDA_API Status cudaMemcpy3DPeerAsync(const Memcpy3DPeerParms* parameters, void* stream) {
  return on(stream, [&] { return copy3D(parameters); });
}

MNEME_CUDA_API Status cudaMemset(void* destination, int value, size_t bytes) {
  return api([&] { return fill(destination, value, bytes); });
}

MNEME_CUDA_API Status cudaMemsetAsync(void* destination, int value, size_t bytes, void* stream) {
  return on(stream, [&] { return fill(destination, value, bytes); });
}

MNEME_CUDA_API Status cudaMemset2D(void* destination, size_t pitch, int value, size_t width,
                                   size_t height) {
  return api([&] { return fillBlock(plane(destination, pitch), value, width, height, 1); });
}

MNEME_CUDA_API Status cudaMemset2DAsync(void* destination, size_t pitch, int value, size_t width,
                                        size_t height, void* stream) {
  return on(stream, [&] { return fillBlock(plane(destination, pitch), value, width, height, 1); });
}

MNEME_CUDA_API Status cudaMemset3D(PitchedPtr memory, int value, Extent extent) {
  return api([&] { return fill3D(memory, value, extent); });
}

MNEME_CUDA_API Status cudaMemset3DAsync(PitchedPtr memory, int value, Extent extent, void* stream) {
  return on(stream, [&] { return fill3D(memory, value, extent); });
}

// Placement of managed memory: there is one memory here, so advice is checked for nothing but
// sense. The third parameter is a device number in CUDA 12 and a location in CUDA 13 and _v2;
// neither is read.
MNEME_CUDA_API Status cudaMemPrefetchAsync(const void* pointer, size_t bytes) {
  return api([&] { return pointer && bytes ? Status::Success : Status::InvalidValue; });
}

MNEME_CUDA_API Status cudaMemAdvise(const void* pointer, size_t bytes) {
  return api([&] { return pointer && bytes ? Status::Success : Status::InvalidValue; });
}
