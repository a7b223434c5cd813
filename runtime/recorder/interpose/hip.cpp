// Room recorder: the HIP API's memory. Only names, signatures and constants of the vendor; what is
// done about them is in ../served_memory.h.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;
using mneme::artifact::RegionKind;

namespace {

/// The pool hipMallocAsync takes from, or null.
void* currentPool() noexcept {
  static const auto ask = find<int (*)(void**, int)>("hipDeviceGetMemPool");
  return poolOfCurrentDevice(ask);
}

size_t bytesAt(const void* pointer) noexcept {
  static const auto ask = find<int (*)(void**, size_t*, const void*)>("hipMemGetAddressRange");
  void* base = nullptr;
  size_t bytes = 0;
  return ask && ask(&base, &bytes, pointer) == 0 ? bytes : 0;
}

} // namespace

MNEME_RECORD_API int hipMalloc(void** pointer, size_t bytes) {
  return serve(pointer, bytes, RegionKind::Allocation,
               [&] { return forward<hipMalloc>("hipMalloc", pointer, bytes); });
}

MNEME_RECORD_API int hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned flags) {
  return serve(pointer, bytes, RegionKind::Allocation, [&] {
    return forward<hipExtMallocWithFlags>("hipExtMallocWithFlags", pointer, bytes, flags);
  });
}

MNEME_RECORD_API int hipMallocAsync(void** pointer, size_t bytes, void* stream) {
  return serveOrdered(pointer, bytes, stream, currentPool(), nullptr, [&] {
    return forward<hipMallocAsync>("hipMallocAsync", pointer, bytes, stream);
  });
}

MNEME_RECORD_API int hipMallocFromPoolAsync(void** pointer, size_t bytes, void* pool,
                                            void* stream) {
  return serveOrdered(pointer, bytes, stream, pool, nullptr, [&] {
    return forward<hipMallocFromPoolAsync>("hipMallocFromPoolAsync", pointer, bytes, pool, stream);
  });
}

MNEME_RECORD_API int hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return servePitched(pointer, pitch, {width, height, 1}, [&] {
    return forward<hipMallocPitch>("hipMallocPitch", pointer, pitch, width, height);
  });
}

MNEME_RECORD_API int hipMemAllocPitch(void** pointer, size_t* pitch, size_t width, size_t height,
                                      unsigned elementBytes) {
  return servePitched(pointer, pitch, {width, height, 1}, [&] {
    return forward<hipMemAllocPitch>("hipMemAllocPitch", pointer, pitch, width, height,
                                     elementBytes);
  });
}

MNEME_RECORD_API int hipMalloc3D(PitchedPtr* pitched, Extent extent) {
  return servePitched(pitched, extent,
                      [&] { return forward<hipMalloc3D>("hipMalloc3D", pitched, extent); });
}

MNEME_RECORD_API int hipMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return serveManaged(pointer, bytes, flags, [&] {
    return forward<hipMallocManaged>("hipMallocManaged", pointer, bytes, flags);
  });
}

MNEME_RECORD_API int hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  return serve(pointer, bytes, RegionKind::HostPinned,
               [&] { return forward<hipHostMalloc>("hipHostMalloc", pointer, bytes, flags); });
}

MNEME_RECORD_API int hipHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return serve(pointer, bytes, RegionKind::HostPinned,
               [&] { return forward<hipHostAlloc>("hipHostAlloc", pointer, bytes, flags); });
}

MNEME_RECORD_API int hipMallocHost(void** pointer, size_t bytes) {
  return serve(pointer, bytes, RegionKind::HostPinned,
               [&] { return forward<hipMallocHost>("hipMallocHost", pointer, bytes); });
}

MNEME_RECORD_API int hipMemAllocHost(void** pointer, size_t bytes) {
  return serve(pointer, bytes, RegionKind::HostPinned,
               [&] { return forward<hipMemAllocHost>("hipMemAllocHost", pointer, bytes); });
}

MNEME_RECORD_API int hipFree(void* pointer) {
  return serveFree(pointer, FreeKind::Device, [&] { return forward<hipFree>("hipFree", pointer); });
}

MNEME_RECORD_API int hipFreeAsync(void* pointer, void* stream) {
  return serveFreeOrdered(pointer, stream, nullptr,
                          [&] { return forward<hipFreeAsync>("hipFreeAsync", pointer, stream); });
}

MNEME_RECORD_API int hipHostFree(void* pointer) {
  return serveFree(pointer, FreeKind::Host,
                   [&] { return forward<hipHostFree>("hipHostFree", pointer); });
}

MNEME_RECORD_API int hipFreeHost(void* pointer) {
  return serveFree(pointer, FreeKind::Host,
                   [&] { return forward<hipFreeHost>("hipFreeHost", pointer); });
}

MNEME_RECORD_API int hipHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return watchRegister(pointer, bytes, [&] {
    return forward<hipHostRegister>("hipHostRegister", pointer, bytes, flags);
  });
}

MNEME_RECORD_API int hipHostUnregister(void* pointer) {
  return watchUnregister(pointer,
                         [&] { return forward<hipHostUnregister>("hipHostUnregister", pointer); });
}

MNEME_RECORD_API int hipDeviceReset() {
  return serveReset([] { return forward<hipDeviceReset>("hipDeviceReset"); });
}

MNEME_RECORD_API int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return watchPeerAccess(peer, [&] {
    return forward<hipDeviceEnablePeerAccess>("hipDeviceEnablePeerAccess", peer, flags);
  });
}

MNEME_RECORD_API int hipMemGetInfo(size_t* freeBytes, size_t* totalBytes) {
  return serveFreeBytes(
      freeBytes, [&] { return forward<hipMemGetInfo>("hipMemGetInfo", freeBytes, totalBytes); });
}

MNEME_RECORD_API int hipMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return servePoolAttribute(pool, attribute, value, [&] {
    return forward<hipMemPoolGetAttribute>("hipMemPoolGetAttribute", pool, attribute, value);
  });
}

MNEME_RECORD_API int hipIpcGetMemHandle(void* handle, void* pointer) {
  return watchExport(
      pointer, [&] { return forward<hipIpcGetMemHandle>("hipIpcGetMemHandle", handle, pointer); });
}

MNEME_RECORD_API int hipIpcOpenMemHandle(void** pointer, MemoryHandle handle, unsigned flags) {
  return openMemory<hipIpcOpenMemHandle>("hipIpcOpenMemHandle", pointer, handle, flags, bytesAt);
}

MNEME_RECORD_API int hipIpcCloseMemHandle(void* pointer) {
  return closeMemory<hipIpcCloseMemHandle>("hipIpcCloseMemHandle", pointer);
}

MNEME_RECORD_API int hipMemPoolExportPointer(void* exported, void* pointer) {
  return watchExport(pointer, [&] {
    return forward<hipMemPoolExportPointer>("hipMemPoolExportPointer", exported, pointer);
  });
}
