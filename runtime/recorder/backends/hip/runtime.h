// Room recorder: HIP's functions that the recorder needs in addition to device::hip::Driver,
// bypassing the recorder's own.
#pragma once

#include <cstddef>

#include "runtime/core/base/last_error.h"
#include "runtime/devices/hip/capture_relaxed.h"
#include "runtime/recorder/backends/vendor_runtime.h"

namespace mneme::record::gpu {

/// hipPointerAttribute_t, for every version.
struct PointerAttribute {
  int type = 0; ///< HIP 5: 0 host, 1 device; HIP 6: 0 unknown, 1 host, 2 device, 3 managed
  int device = 0;
  void* devicePointer = nullptr;
  void* hostPointer = nullptr;
  int isManaged = 0;
  unsigned allocationFlags = 0;
};

/// All but the first two may be null.
struct HipRuntime {
  int (*synchronize)() = find<int (*)()>("hipDeviceSynchronize");
  int (*getDevice)(int* device) = find<int (*)(int*)>("hipGetDevice");
  int (*setDevice)(int device) = find<int (*)(int)>("hipSetDevice");
  int (*deviceCount)(int* count) = find<int (*)(int*)>("hipGetDeviceCount");
  /// HIP 5.2 only has the second function, which returns the device.
  int (*streamDevice)(void* stream, int* device) = find<int (*)(void*, int*)>("hipStreamGetDevice");
  int (*streamDeviceId)(void* stream) = find<int (*)(void*)>("hipGetStreamDeviceId");
  int (*symbolAddress)(void** address, const void* hostShadow) =
      find<int (*)(void**, const void*)>("hipGetSymbolAddress");
  int (*attributesOf)(void* attributes, const void* kernel) =
      find<int (*)(void*, const void*)>("hipFuncGetAttributes");
  int (*streamIsCapturing)(void* stream,
                           int* status) = find<int (*)(void*, int*)>("hipStreamIsCapturing");
  int (*streamWaitEvent)(void* stream, void* event, unsigned flags) =
      find<int (*)(void*, void*, unsigned)>("hipStreamWaitEvent");
  int (*exchangeCaptureMode)(int* mode) = find<int (*)(int*)>("hipThreadExchangeStreamCaptureMode");
  int (*pointerAttributes)(PointerAttribute* attributes, const void* pointer) =
      find<int (*)(PointerAttribute*, const void*)>("hipPointerGetAttributes");
  int (*addressRange)(void** base, size_t* bytes, void* pointer) =
      find<int (*)(void**, size_t*, void*)>("hipMemGetAddressRange");
  int (*canAccessPeer)(int* canAccess, int device,
                       int peer) = find<int (*)(int*, int, int)>("hipDeviceCanAccessPeer");
  int (*version)(int* version) = find<int (*)(int*)>("hipRuntimeGetVersion");
  int (*peek)() = find<int (*)()>("hipPeekAtLastError");
  int (*clear)() = find<int (*)()>("hipGetLastError");

  bool isThere() const noexcept { return synchronize && getDevice; }
  /// Looked up once.
  static const HipRuntime& get() {
    static const auto* const runtime = new HipRuntime;
    return *runtime;
  }
};

} // namespace mneme::record::gpu
