// Copies and fills.
#include "runtime/emulator/runtimes/core/arrays.h"
#include "runtime/emulator/runtimes/core/at_once.h"
#include "runtime/emulator/runtimes/core/copies.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/graph_params.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/stream.h"
#include "runtime/emulator/runtimes/core/types.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

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

Status copy3D(Memcpy3DParms p) {
  if (const Status bad = resolveArrays(p); bad != Status::Success)
    return bad;
  return copyBlock(placed(p.dstPtr, p.dstPos), placed(p.srcPtr, p.srcPos), p.extent.width,
                   p.extent.height, p.extent.depth);
}

Status copyChecked3D(const Memcpy3DParms* p) {
  if (!p)
    return Status::InvalidValue;
  return isKind(p->kind) ? copy3D(*p) : Status::InvalidMemcpyDirection;
}

Status fill(void* destination, int value, size_t bytes) {
  return fillBlock(plane(destination, bytes), value, bytes, 1, 1);
}

Status fill3D(const PitchedPtr& memory, int value, const Extent& extent) {
  return fillBlock(placed(memory, {0, 0, 0}), value, extent.width, extent.height, extent.depth);
}

template <typename Make, typename Body>
Status on(void* stream, const Make& make, const Body& body) {
  return api([&] { return onStream(stream, make, body); });
}

Memcpy3DParms planeParams(void* destination, size_t destinationPitch, const void* source,
                          size_t sourcePitch, size_t width, size_t height, CopyKind kind) {
  Memcpy3DParms params{};
  params.srcPtr = {const_cast<void*>(source), sourcePitch, width, height};
  params.dstPtr = {destination, destinationPitch, width, height};
  params.extent = {width, height, 1};
  params.kind = kind;
  return params;
}

Status fillWork(const PitchedPtr& memory, int value, const Extent& extent, Work& work) {
  const MemsetParams params{memory.ptr, memory.pitch, static_cast<unsigned>(value),
                            1,          extent.width, extent.height};
  work = FillWork{params, extent.depth, memory.pitch * memory.ysize};
  return memory.ptr ? Status::Success : Status::InvalidValue;
}

Memcpy3DParms paramsOf(const Memcpy3DPeerParms& p) {
  return {p.srcArray, p.srcPos, p.srcPtr, p.dstArray,
          p.dstPos,   p.dstPtr, p.extent, CopyKind::Default};
}

Status copyPeers3D(const Memcpy3DPeerParms* p) {
  return p ? copy3D(paramsOf(*p)) : Status::InvalidValue;
}

Status checkPeers(int first, int second) {
  return first == 0 && second == 0 ? Status::Success : Status::InvalidDevice;
}

} // namespace

Status mneme::cpu_runtime::copyVolume(const Memcpy3DParms& params) {
  return copyChecked3D(&params);
}

MNEME_RUNTIME_API Status gpuMemcpy(void* destination, const void* source, size_t bytes,
                                   CopyKind kind) {
  return atOnce([&] { return copy(destination, source, bytes, kind); });
}

MNEME_RUNTIME_API Status gpuMemcpyAsync(void* destination, const void* source, size_t bytes,
                                        CopyKind kind, void* stream) {
  return on(
      stream, [&](Work& work) { return copyWork(destination, source, bytes, kind, work); },
      [&] { return copy(destination, source, bytes, kind); });
}

MNEME_RUNTIME_API Status gpuMemcpyPeer(void* destination, int destinationDevice, const void* source,
                                       int sourceDevice, size_t bytes) {
  return atOnce([&] {
    const Status bad = checkPeers(destinationDevice, sourceDevice);
    return bad == Status::Success ? copyBytes(destination, source, bytes) : bad;
  });
}

MNEME_RUNTIME_API Status gpuMemcpyPeerAsync(void* destination, int destinationDevice,
                                            const void* source, int sourceDevice, size_t bytes,
                                            void* stream) {
  if (const Status bad = checkPeers(destinationDevice, sourceDevice); bad != Status::Success)
    return remember(bad);
  return gpuMemcpyAsync(destination, source, bytes, CopyKind::Default, stream);
}

MNEME_RUNTIME_API Status gpuMemcpy2D(void* destination, size_t destinationPitch, const void* source,
                                     size_t sourcePitch, size_t width, size_t height,
                                     CopyKind kind) {
  return atOnce([&] {
    return copy2D(destination, destinationPitch, source, sourcePitch, width, height, kind);
  });
}

MNEME_RUNTIME_API Status gpuMemcpy2DAsync(void* destination, size_t destinationPitch,
                                          const void* source, size_t sourcePitch, size_t width,
                                          size_t height, CopyKind kind, void* stream) {
  const auto makeWork = [&](Work& work) {
    const auto params =
        planeParams(destination, destinationPitch, source, sourcePitch, width, height, kind);
    return toWork(&params, work);
  };
  return on(stream, makeWork, [&] {
    return copy2D(destination, destinationPitch, source, sourcePitch, width, height, kind);
  });
}

MNEME_RUNTIME_API Status gpuMemcpy3D(const Memcpy3DParms* parameters) {
  return atOnce([&] { return copyChecked3D(parameters); });
}

MNEME_RUNTIME_API Status gpuMemcpy3DAsync(const Memcpy3DParms* parameters, void* stream) {
  return on(
      stream, [&](Work& work) { return toWork(parameters, work); },
      [&] { return copyChecked3D(parameters); });
}

MNEME_RUNTIME_API Status gpuMemcpy3DPeer(const Memcpy3DPeerParms* parameters) {
  return atOnce([&] { return copyPeers3D(parameters); });
}

MNEME_RUNTIME_API Status gpuMemcpy3DPeerAsync(const Memcpy3DPeerParms* parameters, void* stream) {
  const auto makeWork = [&](Work& work) {
    if (!parameters)
      return Status::InvalidValue;
    const Memcpy3DParms params = paramsOf(*parameters);
    return toWork(&params, work);
  };
  return on(stream, makeWork, [&] { return copyPeers3D(parameters); });
}

MNEME_RUNTIME_API Status gpuMemsetAsync(void* destination, int value, size_t bytes, void* stream);
MNEME_RUNTIME_API Status gpuMemset2DAsync(void* destination, size_t pitch, int value, size_t width,
                                          size_t height, void* stream);
MNEME_RUNTIME_API Status gpuMemset3DAsync(PitchedPtr memory, int value, Extent extent,
                                          void* stream);

// Fills need not be done when the call returns: they are work of the legacy default stream.

MNEME_RUNTIME_API Status gpuMemset(void* destination, int value, size_t bytes) {
  return gpuMemsetAsync(destination, value, bytes, nullptr);
}

MNEME_RUNTIME_API Status gpuMemsetAsync(void* destination, int value, size_t bytes, void* stream) {
  const auto makeWork = [&](Work& work) {
    return fillWork({destination, bytes, bytes, 1}, value, {bytes, 1, 1}, work);
  };
  return on(stream, makeWork, [&] { return fill(destination, value, bytes); });
}

MNEME_RUNTIME_API Status gpuMemset2D(void* destination, size_t pitch, int value, size_t width,
                                     size_t height) {
  return gpuMemset2DAsync(destination, pitch, value, width, height, nullptr);
}

MNEME_RUNTIME_API Status gpuMemset2DAsync(void* destination, size_t pitch, int value, size_t width,
                                          size_t height, void* stream) {
  const auto makeWork = [&](Work& work) {
    return fillWork({destination, pitch, width, height}, value, {width, height, 1}, work);
  };
  return on(stream, makeWork,
            [&] { return fillBlock(plane(destination, pitch), value, width, height, 1); });
}

MNEME_RUNTIME_API Status gpuMemset3D(PitchedPtr memory, int value, Extent extent) {
  return gpuMemset3DAsync(memory, value, extent, nullptr);
}

MNEME_RUNTIME_API Status gpuMemset3DAsync(PitchedPtr memory, int value, Extent extent,
                                          void* stream) {
  return on(
      stream, [&](Work& work) { return fillWork(memory, value, extent, work); },
      [&] { return fill3D(memory, value, extent); });
}

// Placement of managed memory: there is one memory here, so advice is checked for nothing but
// sense. The third parameter is a device number in some versions and a location in others; neither
// is read.
MNEME_RUNTIME_API Status gpuMemPrefetchAsync(const void* pointer, size_t bytes) {
  return api([&] { return pointer && bytes ? Status::Success : Status::InvalidValue; });
}

MNEME_RUNTIME_API Status gpuMemAdvise(const void* pointer, size_t bytes) {
  return api([&] { return pointer && bytes ? Status::Success : Status::InvalidValue; });
}
