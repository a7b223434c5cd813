// Room jit: HIP functions that device::hip::Driver does not need.
#pragma once

#include <cstddef>

#include "runtime/core/base/last_error.h"
#include "runtime/devices/hip/capture_relaxed.h"
#include "runtime/devices/hip/hip_driver.h"

namespace mneme::jit {

/// hipFuncAttributes. Newer versions can only add members at the end.
struct HipKernelFacts {
  int binaryVersion, cacheMode;
  size_t constantBytes, localBytes;
  int maxDynamicSharedBytes, maxThreadsPerBlock;
  char others[1024];
};

/// hipPointerAttribute_t of every version.
struct HipPointerFacts {
  int type; ///< HIP 5: 0 host, 1 device; HIP 6: 0 not known, 1 host, 2 device, 3 managed
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

/// Returns a function of the HIP library that the program uses; null if there is none.
void* findInHip(const char* name) noexcept;

/// Functions of the HIP library that the program uses. Each may be null.
struct HipRuntime {
  /// Looked up once.
  static const HipRuntime& get() noexcept;

  int (*getSymbolAddress)(void** address, const void* hostShadow) = nullptr;
  void (*registerVariable)(void** code, void* shadow, const char* hostName, const char* deviceName,
                           int isExtern, size_t sizeBytes, int isConstant,
                           int isGlobal) = nullptr; ///< __hipRegisterVar
  int (*getFuncAttributes)(HipKernelFacts* facts, const void* handle) = nullptr;
  int (*getPointerAttributes)(HipPointerFacts* facts, const void* pointer) = nullptr;
  int (*exchangeCaptureMode)(int* mode) = nullptr;
  int (*streamIsCapturing)(void* stream, int* status) = nullptr;
  int (*peekAtLastError)() = nullptr;
  int (*getLastError)() = nullptr;
  int (*getVersion)(int* version) = nullptr;

  KeepsLastError keepLastError() const { return {peekAtLastError, getLastError}; }
};

} // namespace mneme::jit
