// Memory functions of the HIP API that differ from the shared ones in more than their names.
#include <algorithm>
#include <cstdint>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/graph_params.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/own_calls.h"
#include "runtime/emulator/runtimes/core/stream.h"
#include "runtime/emulator/runtimes/hip/device_facts.h"

using namespace mneme::cpu_runtime;
using namespace mneme::cpu_runtime::hip;

namespace {

constexpr unsigned kHostAllocFlags = 7;     // portable, mapped, write-combined
constexpr unsigned kHostRegisterFlags = 15; // portable, mapped, I/O memory, read-only

/// Layout of all versions.
struct PointerAttribute {
  int type; ///< HIP 5: 0 host, 1 device; HIP 6: 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

/// One side of a Copy2D.
struct Side {
  size_t x; ///< bytes
  size_t y;
  int type;
  void* host;
  void* device;
  void* array;
  size_t pitch;

  /// Null for an array.
  char* start() const {
    if (array)
      return nullptr;
    const bool isHost = type == 0 || (type == 1 && runtimeMajor() >= 6);
    return static_cast<char*>(isHost ? host : device) + y * pitch + x;
  }
};

/// hip_Memcpy2D of all versions.
struct Copy2D {
  Side source;
  Side destination;
  size_t width;
  size_t height;
};

template <typename Copy> Status copyPlane(const Copy2D* parameters, Copy&& copy) {
  if (!parameters)
    return remember(Status::InvalidValue);
  const auto& [source, destination, width, height] = *parameters;
  char *from = source.start(), *to = destination.start();
  if (!from || !to)
    return remember(Status::NotSupported);
  return copy(to, destination.pitch, from, source.pitch, width, height, CopyKind::Default);
}

int typeOf(const Block& block) {
  if (runtimeMajor() < 6)
    return block.kind == MemoryKind::Host ? 0 : 1;
  if (block.kind == MemoryKind::Host)
    return 1;
  return block.kind == MemoryKind::Managed ? 3 : 2;
}

Status describe(PointerAttribute* attributes, const void* pointer) {
  if (!attributes || !pointer)
    return Status::InvalidValue;
  const auto block = Heap::instance().find(pointer);
  *attributes = {0, block ? 0 : -2, nullptr, nullptr, 0, 0};
  if (!block)
    return runtimeMajor() < 6 ? Status::InvalidValue : Status::Success;
  attributes->type = typeOf(*block);
  attributes->devicePointer = const_cast<void*>(pointer);
  if (block->kind != MemoryKind::Device)
    attributes->hostPointer = const_cast<void*>(pointer);
  attributes->isManaged = block->kind == MemoryKind::Managed;
  attributes->allocationFlags = block->flags;
  return Status::Success;
}

template <typename Value> Status fill(void* destination, Value value, size_t count) {
  if (count > SIZE_MAX / sizeof(Value) ||
      (count &&
       (!destination || !Heap::instance().isAccessible(destination, count * sizeof(Value)))))
    return Status::InvalidValue;
  if (!isFaulted())
    std::fill_n(static_cast<Value*>(destination), count, value);
  return Status::Success;
}

template <typename Value>
Status fillOn(void* stream, void* destination, Value value, size_t count) {
  const auto makeWork = [&](Work& work) {
    const MemsetParams params{
        destination, count * sizeof(Value), static_cast<unsigned>(value), sizeof(Value), count, 1};
    return toWork(&params, work);
  };
  return api(
      [&] { return onStream(stream, makeWork, [&] { return fill(destination, value, count); }); });
}

} // namespace

/// Flags for coherence and NUMA nodes have no effect here.
MNEME_RUNTIME_API Status hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  return gpuHostAlloc(pointer, bytes, flags & kHostAllocFlags);
}

MNEME_RUNTIME_API Status hipHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return gpuHostRegister(pointer, bytes, flags & kHostRegisterFlags);
}

MNEME_RUNTIME_API Status hipMemAllocPitch(void** pointer, size_t* pitch, size_t width,
                                          size_t height, unsigned) {
  return gpuMallocPitch(pointer, pitch, width, height);
}

MNEME_RUNTIME_API Status hipPointerGetAttributes(PointerAttribute* attributes,
                                                 const void* pointer) {
  return api([&] { return describe(attributes, pointer); });
}

MNEME_RUNTIME_API Status hipMemGetAddressRange(void** base, size_t* bytes, void* pointer) {
  return api([&] {
    const auto block = Heap::instance().find(pointer);
    if (!block)
      return Status::InvalidValue;
    if (base)
      *base = reinterpret_cast<void*>(block->base);
    if (bytes)
      *bytes = block->bytes;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  return bytes ? hipMemGetAddressRange(nullptr, bytes, pointer) : remember(Status::InvalidValue);
}

MNEME_RUNTIME_API Status hipMemcpyHtoD(void* destination, const void* source, size_t bytes) {
  return gpuMemcpy(destination, source, bytes, CopyKind::HostToDevice);
}

MNEME_RUNTIME_API Status hipMemcpyDtoH(void* destination, const void* source, size_t bytes) {
  return gpuMemcpy(destination, source, bytes, CopyKind::DeviceToHost);
}

MNEME_RUNTIME_API Status hipMemcpyDtoD(void* destination, const void* source, size_t bytes) {
  return gpuMemcpy(destination, source, bytes, CopyKind::DeviceToDevice);
}

MNEME_RUNTIME_API Status hipMemcpyHtoDAsync(void* destination, const void* source, size_t bytes,
                                            void* stream) {
  return gpuMemcpyAsync(destination, source, bytes, CopyKind::HostToDevice, stream);
}

MNEME_RUNTIME_API Status hipMemcpyDtoHAsync(void* destination, const void* source, size_t bytes,
                                            void* stream) {
  return gpuMemcpyAsync(destination, source, bytes, CopyKind::DeviceToHost, stream);
}

MNEME_RUNTIME_API Status hipMemcpyDtoDAsync(void* destination, const void* source, size_t bytes,
                                            void* stream) {
  return gpuMemcpyAsync(destination, source, bytes, CopyKind::DeviceToDevice, stream);
}

MNEME_RUNTIME_API Status hipMemcpyParam2D(const Copy2D* parameters) {
  return copyPlane(parameters, gpuMemcpy2D);
}

MNEME_RUNTIME_API Status hipMemcpyParam2DAsync(const Copy2D* parameters, void* stream) {
  return copyPlane(parameters, [&](auto... values) { return gpuMemcpy2DAsync(values..., stream); });
}

MNEME_RUNTIME_API Status hipMemsetD8(void* destination, uint8_t value, size_t count) {
  return fillOn(nullptr, destination, value, count);
}

MNEME_RUNTIME_API Status hipMemsetD16(void* destination, uint16_t value, size_t count) {
  return fillOn(nullptr, destination, value, count);
}

MNEME_RUNTIME_API Status hipMemsetD32(void* destination, int value, size_t count) {
  return fillOn(nullptr, destination, value, count);
}

MNEME_RUNTIME_API Status hipMemsetD8Async(void* destination, uint8_t value, size_t count,
                                          void* stream) {
  return fillOn(stream, destination, value, count);
}

MNEME_RUNTIME_API Status hipMemsetD16Async(void* destination, uint16_t value, size_t count,
                                           void* stream) {
  return fillOn(stream, destination, value, count);
}

MNEME_RUNTIME_API Status hipMemsetD32Async(void* destination, int value, size_t count,
                                           void* stream) {
  return fillOn(stream, destination, value, count);
}
