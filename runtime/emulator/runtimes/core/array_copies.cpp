// Arrays as programs make them, and copies from and to them.
#include "runtime/emulator/runtimes/core/arrays.h"

#include <string>

#include <dlfcn.h>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/device_memory.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/own_calls.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr unsigned kLayered = 0x01, kSurface = 0x02, kCubemap = 0x04, kGather = 0x08;

bool isFormat(const ChannelFormatDesc& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  int channels = 0;
  for (const int wide : bits)
    channels += wide != 0;
  bool isEven = channels == 1 || channels == 2 || channels == 4;
  for (int channel = 0; channel < 4; ++channel)
    isEven = isEven && bits[channel] == (channel < channels ? format.x : 0);
  return isEven && (format.x == 8 || format.x == 16 || format.x == 32) && format.kind >= 0 &&
         format.kind <= 2;
}

Status make(void** handle, const ChannelFormatDesc* format, const Extent& extent, unsigned flags) {
  if (!handle || !format || !isFormat(*format) || extent.width == 0 ||
      (extent.height == 0 && extent.depth != 0 && !(flags & kLayered)))
    return Status::InvalidValue;
  if (const unsigned others = flags & ~(kLayered | kSurface | kGather)) {
    mneme::noticeOnce((others == kCubemap
                           ? std::string("cubemap arrays are")
                           : "arrays with flags " + std::to_string(others) + " are") +
                      " not supported on the CPU device");
    return Status::NotSupported;
  }
  auto array = std::make_shared<Array>(Array{*format, extent, flags, nullptr});
  void* memory = nullptr;
  if (const Status bad = takeDeviceMemory(&memory, array->bytes()); bad != Status::Success)
    return bad;
  array->memory = static_cast<char*>(memory);
  *handle = addArray(std::move(array));
  return Status::Success;
}

/// A part of a row, and rows below it, of an array with two dimensions at most; offsets in bytes.
char* part(void* handle, size_t x, size_t y, size_t width, size_t height, size_t& pitch) {
  const auto array = findArray(handle);
  if (!array || x > array->rowBytes() || width > array->rowBytes() - x || y > array->rows() ||
      height > array->rows() - y)
    return nullptr;
  pitch = array->rowBytes();
  return array->memory + y * pitch + x;
}

/// Bytes that go on in the next row.
char* run(void* handle, size_t x, size_t y, size_t bytes) {
  const auto array = findArray(handle);
  if (!array || x > array->rowBytes() || y >= array->rows() ||
      bytes > array->sliceBytes() - y * array->rowBytes() - x)
    return nullptr;
  return array->memory + y * array->rowBytes() + x;
}

Status invalid() { return remember(Status::InvalidValue); }

} // namespace

Status mneme::cpu_runtime::takeDeviceMemory(void** memory, size_t bytes) {
  using Allocate = Status (*)(void**, size_t);
  static const auto allocate = reinterpret_cast<Allocate>(dlsym(RTLD_DEFAULT, vendor.allocate));
  return allocate ? allocate(memory, bytes) : Status::MemoryAllocation;
}

void mneme::cpu_runtime::giveDeviceMemory(void* memory) {
  using Free = Status (*)(void*);
  static const auto release = reinterpret_cast<Free>(dlsym(RTLD_DEFAULT, vendor.release));
  if (release)
    release(memory);
}

MNEME_RUNTIME_API Status gpuMallocArray(void** array, const ChannelFormatDesc* format, size_t width,
                                        size_t height, unsigned flags) {
  return api([&] { return make(array, format, {width, height, 0}, flags); });
}

MNEME_RUNTIME_API Status gpuMalloc3DArray(void** array, const ChannelFormatDesc* format,
                                          Extent extent, unsigned flags) {
  return api([&] { return make(array, format, extent, flags); });
}

MNEME_RUNTIME_API Status gpuFreeArray(void* handle) {
  return api([&] {
    if (!handle)
      return Status::Success;
    const auto array = findArray(handle);
    if (!array || !removeArray(handle))
      return Status::InvalidValue;
    giveDeviceMemory(array->memory);
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuArrayGetInfo(ChannelFormatDesc* format, Extent* extent, unsigned* flags,
                                         void* handle) {
  return api([&] {
    const auto array = findArray(handle);
    if (!array)
      return Status::InvalidValue;
    if (format)
      *format = array->format;
    if (extent)
      *extent = array->extent;
    if (flags)
      *flags = array->flags;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGetChannelDesc(ChannelFormatDesc* format, const void* array) {
  return gpuArrayGetInfo(format, nullptr, nullptr, const_cast<void*>(array));
}

MNEME_RUNTIME_API Status gpuMemcpy2DToArray(void* array, size_t x, size_t y, const void* source,
                                            size_t sourcePitch, size_t width, size_t height,
                                            CopyKind kind) {
  size_t pitch = 0;
  char* to = part(array, x, y, width, height, pitch);
  return to ? gpuMemcpy2D(to, pitch, source, sourcePitch, width, height, kind) : invalid();
}

MNEME_RUNTIME_API Status gpuMemcpy2DToArrayAsync(void* array, size_t x, size_t y,
                                                 const void* source, size_t sourcePitch,
                                                 size_t width, size_t height, CopyKind kind,
                                                 void* stream) {
  size_t pitch = 0;
  char* to = part(array, x, y, width, height, pitch);
  return to ? gpuMemcpy2DAsync(to, pitch, source, sourcePitch, width, height, kind, stream)
            : invalid();
}

MNEME_RUNTIME_API Status gpuMemcpy2DFromArray(void* destination, size_t destinationPitch,
                                              const void* array, size_t x, size_t y, size_t width,
                                              size_t height, CopyKind kind) {
  size_t pitch = 0;
  const char* from = part(const_cast<void*>(array), x, y, width, height, pitch);
  return from ? gpuMemcpy2D(destination, destinationPitch, from, pitch, width, height, kind)
              : invalid();
}

MNEME_RUNTIME_API Status gpuMemcpy2DFromArrayAsync(void* destination, size_t destinationPitch,
                                                   const void* array, size_t x, size_t y,
                                                   size_t width, size_t height, CopyKind kind,
                                                   void* stream) {
  size_t pitch = 0;
  const char* from = part(const_cast<void*>(array), x, y, width, height, pitch);
  return from ? gpuMemcpy2DAsync(destination, destinationPitch, from, pitch, width, height, kind,
                                 stream)
              : invalid();
}

MNEME_RUNTIME_API Status gpuMemcpy2DArrayToArray(void* destination, size_t toX, size_t toY,
                                                 const void* source, size_t fromX, size_t fromY,
                                                 size_t width, size_t height, CopyKind kind) {
  size_t toPitch = 0, fromPitch = 0;
  char* to = part(destination, toX, toY, width, height, toPitch);
  const char* from = part(const_cast<void*>(source), fromX, fromY, width, height, fromPitch);
  return to && from ? gpuMemcpy2D(to, toPitch, from, fromPitch, width, height, kind) : invalid();
}

MNEME_RUNTIME_API Status gpuMemcpyToArray(void* array, size_t x, size_t y, const void* source,
                                          size_t bytes, CopyKind kind) {
  char* to = run(array, x, y, bytes);
  return to ? gpuMemcpy(to, source, bytes, kind) : invalid();
}

MNEME_RUNTIME_API Status gpuMemcpyToArrayAsync(void* array, size_t x, size_t y, const void* source,
                                               size_t bytes, CopyKind kind, void* stream) {
  char* to = run(array, x, y, bytes);
  return to ? gpuMemcpyAsync(to, source, bytes, kind, stream) : invalid();
}

MNEME_RUNTIME_API Status gpuMemcpyFromArray(void* destination, const void* array, size_t x,
                                            size_t y, size_t bytes, CopyKind kind) {
  const char* from = run(const_cast<void*>(array), x, y, bytes);
  return from ? gpuMemcpy(destination, from, bytes, kind) : invalid();
}

MNEME_RUNTIME_API Status gpuMemcpyFromArrayAsync(void* destination, const void* array, size_t x,
                                                 size_t y, size_t bytes, CopyKind kind,
                                                 void* stream) {
  const char* from = run(const_cast<void*>(array), x, y, bytes);
  return from ? gpuMemcpyAsync(destination, from, bytes, kind, stream) : invalid();
}
