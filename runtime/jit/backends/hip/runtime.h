// Room jit: HIP's functions that device::hip::Driver has no use for.
#pragma once

#include <cstddef>

#include "runtime/base/last_error.h"
#include "runtime/device/hip/capture_relaxed.h"
#include "runtime/device/hip/driver.h"

namespace mneme::jit {

/// hipFuncAttributes, which newer versions lengthen at most.
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

/// A function of the library that the program uses, wherever that was opened; null without it.
void* findInHip(const char* name) noexcept;

/// Of the library that the program uses. All may be null.
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
