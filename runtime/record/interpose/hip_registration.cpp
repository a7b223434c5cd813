// Room record: device code that the HIP runtime registers while the program and its libraries are
// loaded. What is looked for in it later is in ../backends/hip.
#include "runtime/record/exported.h"
#include "runtime/record/interpose/alike.h"
#include "runtime/record/registered_code.h"

using namespace mneme::record;

namespace {

struct Wrapper {
  uint32_t magic, version;
  const void* fatbin;
};

} // namespace

MNEME_RECORD_API void** __hipRegisterFatBinary(const void* wrapper) {
  static const auto next = find<decltype(&__hipRegisterFatBinary)>("__hipRegisterFatBinary");
  void** handle = next ? next(wrapper) : nullptr;
  if (wrapper)
    codeRegistered(static_cast<const Wrapper*>(wrapper)->fatbin, handle);
  return handle;
}

MNEME_RECORD_API void __hipUnregisterFatBinary(void** handle) {
  static const auto next = find<decltype(&__hipUnregisterFatBinary)>("__hipUnregisterFatBinary");
  codeUnregistered(handle);
  if (next)
    next(handle);
}
