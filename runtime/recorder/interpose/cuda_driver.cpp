// Room recorder: the CUDA driver API of programs that are linked with it. The runtime reaches the
// driver by handles of its own and does not come by here.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/interpose/cuda_graph_functions.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;
using mneme::artifact::RegionKind;

namespace {

constexpr int kContext = 1, kRangeStart = 11, kRangeSize = 12; // CUpointer_attribute

using Address = unsigned long long;

void** asPointer(Address* address) { return reinterpret_cast<void**>(address); }
void* asPointer(Address address) { return reinterpret_cast<void*>(address); }

size_t bytesAt(const void* pointer) noexcept {
  static const auto ask = find<int (*)(Address*, size_t*, Address)>("cuMemGetAddressRange_v2");
  size_t bytes = 0;
  return ask && ask(nullptr, &bytes, reinterpret_cast<Address>(pointer)) == 0 ? bytes : 0;
}

/// What the driver says of the mapping that holds served memory becomes what it would say of an
/// allocation.
void correctAttribute(int attribute, void* value, Address pointer) {
  uint64_t base = 0;
  size_t bytes = 0;
  if (!value || !servedRange(asPointer(pointer), base, bytes))
    return;
  if (attribute == kRangeStart)
    *static_cast<Address*>(value) = base;
  else if (attribute == kRangeSize)
    *static_cast<size_t*>(value) = bytes;
  else if (attribute == kContext && !*static_cast<void**>(value))
    if (static const auto current = find<int (*)(void**)>("cuCtxGetCurrent"); current)
      current(static_cast<void**>(value));
}

} // namespace

MNEME_RECORD_API int cuMemAlloc_v2(Address* address, size_t bytes) {
  return serve(asPointer(address), bytes, RegionKind::Allocation,
               [&] { return forward<cuMemAlloc_v2>("cuMemAlloc_v2", address, bytes); });
}

MNEME_RECORD_API int cuMemAllocPitch_v2(Address* address, size_t* pitch, size_t width,
                                        size_t height, unsigned elementBytes) {
  const auto next = [&] {
    return forward<cuMemAllocPitch_v2>("cuMemAllocPitch_v2", address, pitch, width, height,
                                       elementBytes);
  };
  const bool isElement = elementBytes == 4 || elementBytes == 8 || elementBytes == 16;
  return isElement ? servePitched(asPointer(address), pitch, {width, height, 1}, next) : next();
}

MNEME_RECORD_API int cuMemAllocManaged(Address* address, size_t bytes, unsigned flags) {
  return serveManaged(asPointer(address), bytes, flags, [&] {
    return forward<cuMemAllocManaged>("cuMemAllocManaged", address, bytes, flags);
  });
}

MNEME_RECORD_API int cuMemAllocAsync(Address* address, size_t bytes, void* stream) {
  return serveOrdered(
      asPointer(address), bytes, legacyStream(stream), nullptr, cuGraphFunctions,
      [&] { return forward<cuMemAllocAsync>("cuMemAllocAsync", address, bytes, stream); });
}

MNEME_RECORD_API int cuMemAllocAsync_ptsz(Address* address, size_t bytes, void* stream) {
  return serveOrdered(
      asPointer(address), bytes, perThreadStream(stream), nullptr, cuGraphFunctions, [&] {
        return forward<cuMemAllocAsync_ptsz>("cuMemAllocAsync_ptsz", address, bytes, stream);
      });
}

MNEME_RECORD_API int cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return serve(pointer, bytes, RegionKind::HostPinned,
               [&] { return forward<cuMemAllocHost_v2>("cuMemAllocHost_v2", pointer, bytes); });
}

MNEME_RECORD_API int cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  const auto next = [&] {
    return forward<cuMemHostAlloc>("cuMemHostAlloc", pointer, bytes, flags);
  };
  if (flags & ~kHostAllocFlags)
    return next();
  return serve(pointer, bytes, RegionKind::HostPinned, next);
}

MNEME_RECORD_API int cuMemFree_v2(Address address) {
  return serveFree(asPointer(address), FreeKind::Device,
                   [&] { return forward<cuMemFree_v2>("cuMemFree_v2", address); });
}

MNEME_RECORD_API int cuMemFreeAsync(Address address, void* stream) {
  return serveFreeOrdered(asPointer(address), legacyStream(stream), cuGraphFunctions, [&] {
    return forward<cuMemFreeAsync>("cuMemFreeAsync", address, stream);
  });
}

MNEME_RECORD_API int cuMemFreeAsync_ptsz(Address address, void* stream) {
  return serveFreeOrdered(asPointer(address), perThreadStream(stream), cuGraphFunctions, [&] {
    return forward<cuMemFreeAsync_ptsz>("cuMemFreeAsync_ptsz", address, stream);
  });
}

MNEME_RECORD_API int cuMemFreeHost(void* pointer) {
  return serveFree(pointer, FreeKind::Host,
                   [&] { return forward<cuMemFreeHost>("cuMemFreeHost", pointer); });
}

MNEME_RECORD_API int cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  return watchRegister(pointer, bytes, [&] {
    return forward<cuMemHostRegister_v2>("cuMemHostRegister_v2", pointer, bytes, flags);
  });
}

MNEME_RECORD_API int cuMemHostUnregister(void* pointer) {
  return watchUnregister(
      pointer, [&] { return forward<cuMemHostUnregister>("cuMemHostUnregister", pointer); });
}

MNEME_RECORD_API int cuMemGetInfo_v2(size_t* freeBytes, size_t* totalBytes) {
  return serveFreeBytes(freeBytes, [&] {
    return forward<cuMemGetInfo_v2>("cuMemGetInfo_v2", freeBytes, totalBytes);
  });
}

MNEME_RECORD_API int cuMemGetAddressRange_v2(Address* base, size_t* bytes, Address inside) {
  uint64_t servedBase = 0;
  size_t servedBytes = 0;
  if (!servedRange(asPointer(inside), servedBase, servedBytes))
    return forward<cuMemGetAddressRange_v2>("cuMemGetAddressRange_v2", base, bytes, inside);
  if (base)
    *base = servedBase;
  if (bytes)
    *bytes = servedBytes;
  return 0;
}

MNEME_RECORD_API int cuPointerGetAttribute(void* value, int attribute, Address pointer) {
  const int status =
      forward<cuPointerGetAttribute>("cuPointerGetAttribute", value, attribute, pointer);
  if (status == 0)
    correctAttribute(attribute, value, pointer);
  return status;
}

MNEME_RECORD_API int cuPointerGetAttributes(unsigned count, int* attributes, void** values,
                                            Address pointer) {
  const int status =
      forward<cuPointerGetAttributes>("cuPointerGetAttributes", count, attributes, values, pointer);
  for (unsigned index = 0; status == 0 && index < count; ++index)
    correctAttribute(attributes[index], values[index], pointer);
  return status;
}

MNEME_RECORD_API int cuIpcGetMemHandle(void* handle, Address address) {
  return watchExport(asPointer(address), [&] {
    return forward<cuIpcGetMemHandle>("cuIpcGetMemHandle", handle, address);
  });
}

MNEME_RECORD_API int cuIpcOpenMemHandle_v2(Address* address, MemoryHandle handle, unsigned flags) {
  return openMemory<cuIpcOpenMemHandle_v2>("cuIpcOpenMemHandle_v2", address, handle, flags,
                                           bytesAt);
}

MNEME_RECORD_API int cuIpcCloseMemHandle(Address address) {
  return closeMemory<cuIpcCloseMemHandle>("cuIpcCloseMemHandle", address);
}
