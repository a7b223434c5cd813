// Room recorder: device code that the HIP runtime registers while the program and its libraries are
// loaded. What is looked for in it later is in ../backends/hip.
#include "runtime/core/abi/mneme_rt.h"
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

MNEME_RECORD_API void** __hipRegisterFatBinary(const void* wrapper) {
  static const auto next = find<decltype(&__hipRegisterFatBinary)>("__hipRegisterFatBinary");
  void** handle = next ? next(wrapper) : nullptr;
  mneme_rt_code_registered(wrapper, handle);
  return handle;
}

MNEME_RECORD_API void __hipUnregisterFatBinary(void** handle) {
  static const auto next = find<decltype(&__hipUnregisterFatBinary)>("__hipUnregisterFatBinary");
  mneme_rt_code_unregistered(handle);
  if (next)
    next(handle);
}
