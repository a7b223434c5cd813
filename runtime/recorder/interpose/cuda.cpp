// Room recorder: the CUDA Runtime API. Only names, signatures and constants of the vendor; what is
// done about them is in ../served_memory.h.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/interpose/cuda_graph_functions.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;
using mneme::artifact::RegionKind;

namespace {

/// The pool cudaMallocAsync takes from, or null.
void* currentPool() noexcept {
  static const auto ask = find<int (*)(void**, int)>("cudaDeviceGetMemPool");
  return poolOfCurrentDevice(ask);
}

size_t bytesAt(const void* pointer) noexcept {
  static const auto ask = find<int (*)(void**, size_t*, const void*)>("cuMemGetAddressRange_v2");
  size_t bytes = 0;
  return ask && ask(nullptr, &bytes, pointer) == 0 ? bytes : 0;
}

} // namespace

MNEME_RECORD_API int cudaMalloc(void** pointer, size_t bytes) {
  return serve(pointer, bytes, RegionKind::Allocation,
               [&] { return forward<cudaMalloc>("cudaMalloc", pointer, bytes); });
}

MNEME_RECORD_API int cudaMallocAsync(void** pointer, size_t bytes, void* stream) {
  return serveOrdered(pointer, bytes, legacyStream(stream), currentPool(), cudaGraphFunctions, [&] {
    return forward<cudaMallocAsync>("cudaMallocAsync", pointer, bytes, stream);
  });
}

MNEME_RECORD_API int cudaMallocAsync_ptsz(void** pointer, size_t bytes, void* stream) {
  return serveOrdered(
      pointer, bytes, perThreadStream(stream), currentPool(), cudaGraphFunctions, [&] {
        return forward<cudaMallocAsync_ptsz>("cudaMallocAsync_ptsz", pointer, bytes, stream);
      });
}

MNEME_RECORD_API int cudaMallocFromPoolAsync(void** pointer, size_t bytes, void* pool,
                                             void* stream) {
  return serveOrdered(pointer, bytes, legacyStream(stream), pool, nullptr, [&] {
    return forward<cudaMallocFromPoolAsync>("cudaMallocFromPoolAsync", pointer, bytes, pool,
                                            stream);
  });
}

MNEME_RECORD_API int cudaMallocFromPoolAsync_ptsz(void** pointer, size_t bytes, void* pool,
                                                  void* stream) {
  return serveOrdered(pointer, bytes, legacyStream(stream), pool, nullptr, [&] {
    return forward<cudaMallocFromPoolAsync_ptsz>("cudaMallocFromPoolAsync_ptsz", pointer, bytes,
                                                 pool, stream);
  });
}

MNEME_RECORD_API int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return servePitched(pointer, pitch, {width, height, 1}, [&] {
    return forward<cudaMallocPitch>("cudaMallocPitch", pointer, pitch, width, height);
  });
}

MNEME_RECORD_API int cudaMalloc3D(PitchedPtr* pitched, Extent extent) {
  return servePitched(pitched, extent,
                      [&] { return forward<cudaMalloc3D>("cudaMalloc3D", pitched, extent); });
}

MNEME_RECORD_API int cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return serveManaged(pointer, bytes, flags, [&] {
    return forward<cudaMallocManaged>("cudaMallocManaged", pointer, bytes, flags);
  });
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
  return serveFreeOrdered(pointer, legacyStream(stream), cudaGraphFunctions,
                          [&] { return forward<cudaFreeAsync>("cudaFreeAsync", pointer, stream); });
}

MNEME_RECORD_API int cudaFreeAsync_ptsz(void* pointer, void* stream) {
  return serveFreeOrdered(pointer, perThreadStream(stream), cudaGraphFunctions, [&] {
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

MNEME_RECORD_API int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return watchPeerAccess(peer, [&] {
    return forward<cudaDeviceEnablePeerAccess>("cudaDeviceEnablePeerAccess", peer, flags);
  });
}

MNEME_RECORD_API int cudaMemGetInfo(size_t* freeBytes, size_t* totalBytes) {
  return serveFreeBytes(
      freeBytes, [&] { return forward<cudaMemGetInfo>("cudaMemGetInfo", freeBytes, totalBytes); });
}

MNEME_RECORD_API int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return servePoolAttribute(pool, attribute, value, [&] {
    return forward<cudaMemPoolGetAttribute>("cudaMemPoolGetAttribute", pool, attribute, value);
  });
}

MNEME_RECORD_API int cudaIpcGetMemHandle(void* handle, void* pointer) {
  return watchExport(pointer, [&] {
    return forward<cudaIpcGetMemHandle>("cudaIpcGetMemHandle", handle, pointer);
  });
}

MNEME_RECORD_API int cudaIpcOpenMemHandle(void** pointer, MemoryHandle handle, unsigned flags) {
  return openMemory<cudaIpcOpenMemHandle>("cudaIpcOpenMemHandle", pointer, handle, flags, bytesAt);
}

MNEME_RECORD_API int cudaIpcCloseMemHandle(void* pointer) {
  return closeMemory<cudaIpcCloseMemHandle>("cudaIpcCloseMemHandle", pointer);
}

MNEME_RECORD_API int cudaMemPoolExportPointer(void* exported, void* pointer) {
  return watchExport(pointer, [&] {
    return forward<cudaMemPoolExportPointer>("cudaMemPoolExportPointer", exported, pointer);
  });
}
