// Allocation functions.
#include <limits>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/graph_params.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/memory_pool.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/stream.h"
#include "runtime/emulator/runtimes/core/types.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr int kMappedPart = 3;      // of mneme_cpu_adopt()
constexpr size_t kPitchBytes = 512; // what GPUs round rows to at most

Status allocate(void** pointer, size_t bytes, MemoryKind kind, unsigned flags = 0,
                void* pool = nullptr) {
  if (!pointer)
    return Status::InvalidValue;
  *pointer = nullptr;
  if (bytes == 0)
    return Status::Success;
  if (const Status bad = pool ? Status::Success : mayCallUnsafe(); bad != Status::Success)
    return bad;
  *pointer = Heap::instance().allocate(bytes, kind, flags, pool);
  return *pointer ? Status::Success : Status::MemoryAllocation;
}

Status allocatePitched(void** pointer, size_t* pitch, size_t width, size_t rows) {
  if (!pointer || !pitch)
    return Status::InvalidValue;
  if (width > std::numeric_limits<size_t>::max() - kPitchBytes)
    return Status::MemoryAllocation;
  *pitch = (width + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
  if (rows && *pitch > std::numeric_limits<size_t>::max() / rows)
    return Status::MemoryAllocation;
  return allocate(pointer, *pitch * rows, MemoryKind::Device);
}

/// What is done in the order of a stream may become part of a graph.
Status allocateOn(void* stream, void** pointer, size_t bytes, void* pool) {
  const auto makeWork = [&](Work& work) {
    if (!pointer)
      return Status::InvalidValue;
    MemAllocNodeParams params{};
    params.poolProps.allocType = 1; // pinned
    params.poolProps.location.type = 1;
    params.bytesize = bytes;
    const Status status = allocWork(&params, work);
    *pointer = params.dptr;
    return status;
  };
  if (!isStream(stream))
    return Status::InvalidResourceHandle;
  Status status = Status::Success;
  return isAnyCapturing() && divert(stream, makeWork, status)
             ? status
             : allocate(pointer, bytes, MemoryKind::Device, 0, pool);
}

Status release(void* pointer, bool (*accepts)(const Block&)) {
  bool isFreed = false;
  if (pointer && freeGraphMemory(pointer, isFreed))
    return isFreed ? Status::Success : Status::InvalidValue;
  if (!pointer || Heap::instance().release(pointer, accepts))
    return Status::Success;
  return Status::InvalidValue;
}

/// Memory is freed when nothing uses it any more.
void waitForOthers() {
  if (isAnyBusy() && !isAnyCapturing())
    waitForDevice();
}

Status releaseAtOnce(void* pointer, bool (*accepts)(const Block&)) {
  const Status bad = pointer ? mayCallUnsafe() : Status::Success;
  return bad == Status::Success ? release(pointer, accepts) : bad;
}

bool isDeviceMemory(const Block& block) { return block.kind != MemoryKind::Host; }
bool isHostMemory(const Block& block) { return block.kind == MemoryKind::Host; }

Status checkFlags(unsigned flags, unsigned known) {
  return flags & ~known ? Status::InvalidValue : Status::Success;
}

constexpr unsigned kHostAllocFlags = 7;     // portable, mapped, write-combined
constexpr unsigned kHostRegisterFlags = 15; // portable, mapped, I/O memory, read-only

} // namespace

MNEME_RUNTIME_API Status gpuMalloc(void** pointer, size_t bytes) {
  return api([&] { return allocate(pointer, bytes, MemoryKind::Device); });
}

MNEME_RUNTIME_API Status gpuFree(void* pointer) {
  waitForOthers();
  return synchronising([&] { return releaseAtOnce(pointer, isDeviceMemory); });
}

MNEME_RUNTIME_API Status gpuMallocAsync(void** pointer, size_t bytes, void* stream) {
  return api([&] { return allocateOn(stream, pointer, bytes, MemoryPool::current()); });
}

MNEME_RUNTIME_API Status gpuMallocFromPoolAsync(void** pointer, size_t bytes, void* pool,
                                                void* stream) {
  return api([&] {
    if (!MemoryPool::isValid(pool))
      return Status::InvalidValue;
    return allocateOn(stream, pointer, bytes, pool);
  });
}

MNEME_RUNTIME_API Status gpuFreeAsync(void* pointer, void* stream) {
  return api([&] {
    return onStream(
        stream, [&](Work& work) { return freeWork(pointer, work); },
        [&] { return release(pointer, isDeviceMemory); });
  });
}

MNEME_RUNTIME_API Status gpuMallocPitch(void** pointer, size_t* pitch, size_t width,
                                        size_t height) {
  return api([&] { return allocatePitched(pointer, pitch, width, height); });
}

MNEME_RUNTIME_API Status gpuMalloc3D(PitchedPtr* pitched, Extent extent) {
  return api([&] {
    if (!pitched)
      return Status::InvalidValue;
    if (extent.depth && extent.height > std::numeric_limits<size_t>::max() / extent.depth)
      return Status::MemoryAllocation;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocatePitched(&pitched->ptr, &pitched->pitch, extent.width,
                           extent.height * extent.depth);
  });
}

MNEME_RUNTIME_API Status gpuMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return api([&] {
    if ((flags != 1 && flags != 2) || bytes == 0) // attach global or host
      return Status::InvalidValue;
    return allocate(pointer, bytes, MemoryKind::Managed, flags);
  });
}

MNEME_RUNTIME_API Status gpuHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return api([&] {
    if (const Status bad = checkFlags(flags, kHostAllocFlags); bad != Status::Success)
      return bad;
    return allocate(pointer, bytes, MemoryKind::Host, flags);
  });
}

MNEME_RUNTIME_API Status gpuMallocHost(void** pointer, size_t bytes) {
  return api([&] { return allocate(pointer, bytes, MemoryKind::Host); });
}

MNEME_RUNTIME_API Status gpuFreeHost(void* pointer) {
  waitForOthers();
  return synchronising([&] { return releaseAtOnce(pointer, isHostMemory); });
}

MNEME_RUNTIME_API Status gpuHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return api([&] {
    if (!pointer || bytes == 0 || checkFlags(flags, kHostRegisterFlags) != Status::Success)
      return Status::InvalidValue;
    return Heap::instance().adopt(pointer, bytes, MemoryKind::Host, flags)
               ? Status::Success
               : Status::HostMemoryAlreadyRegistered;
  });
}

MNEME_RUNTIME_API Status gpuHostUnregister(void* pointer) {
  return api([&] {
    if (Heap::instance().disown(pointer))
      return Status::Success;
    return Heap::instance().find(pointer) ? Status::InvalidValue : Status::HostMemoryNotRegistered;
  });
}

MNEME_RUNTIME_API Status gpuHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return api([&] {
    const auto block = Heap::instance().find(host);
    if (!device || flags != 0 || !block || !isHostMemory(*block))
      return Status::InvalidValue;
    *device = host;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuHostGetFlags(unsigned* flags, void* host) {
  return api([&] {
    const auto block = Heap::instance().find(host);
    if (!flags || !block || !isHostMemory(*block))
      return Status::InvalidValue;
    *flags = block->flags | 2u; // with unified addressing every pinned allocation is mapped
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuMemGetInfo(size_t* freeBytes, size_t* totalBytes) {
  return api([&] {
    if (!freeBytes || !totalBytes)
      return Status::InvalidValue;
    *totalBytes = Heap::instance().totalBytes();
    *freeBytes = *totalBytes - Heap::instance().usedBytes();
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuPointerGetAttributes(PointerAttributes* attributes,
                                                 const void* pointer) {
  return api([&] {
    if (!attributes)
      return Status::InvalidValue;
    const auto block = Heap::instance().find(pointer);
    *attributes = {MemoryType::Unregistered, -2, nullptr, const_cast<void*>(pointer)};
    if (!block)
      return Status::Success;
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(pointer);
    if (block->kind == MemoryKind::Device) {
      attributes->type = MemoryType::Device;
      attributes->hostPointer = nullptr;
    } else {
      attributes->type =
          block->kind == MemoryKind::Managed ? MemoryType::Managed : MemoryType::Host;
    }
    return Status::Success;
  });
}

/// Tells this runtime about memory that another library serves the program instead of this one;
/// kind 0 device, 1 managed, 2 host, 3 a part of device memory that is mapped piece by piece. 0, or
/// a code when the program may not have so much: then nothing is known of it here.
MNEME_RUNTIME_API int mneme_cpu_adopt(const void* base, size_t bytes, int kind) {
  try {
    const bool isPart = kind == kMappedPart;
    const bool isTaken = Heap::instance().adoptServed(
        base, bytes, isPart ? MemoryKind::Device : static_cast<MemoryKind>(kind), isPart);
    return static_cast<int>(isTaken ? Status::Success : Status::MemoryAllocation);
  } catch (...) { // no memory for the note
    return static_cast<int>(Status::MemoryAllocation);
  }
}

/// The allocation that holds `pointer`; `kind` as in mneme_cpu_adopt(). Leaves no last error.
MNEME_RUNTIME_API int mneme_cpu_find_allocation(const void* pointer, void** base, size_t* bytes,
                                                int* kind) {
  const auto block = Heap::instance().find(pointer);
  if (!block)
    return static_cast<int>(Status::InvalidValue);
  *base = reinterpret_cast<void*>(block->base);
  *bytes = block->bytes;
  *kind = static_cast<int>(block->kind);
  return static_cast<int>(Status::Success);
}

MNEME_RUNTIME_API void mneme_cpu_disown(const void* base) {
  always([&] {
    Heap::instance().disown(base);
    return Status::Success;
  });
}
