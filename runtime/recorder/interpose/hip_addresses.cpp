// Room recorder: what the HIP runtime says of addresses. It knows of served memory only the mapping
// that holds it.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

constexpr int kRangeStart = 11, kRangeSize = 12; // hipPointer_attribute

void correctAttribute(int attribute, void* value, const void* pointer) {
  uint64_t base = 0;
  size_t bytes = 0;
  if (!value || !servedRange(pointer, base, bytes))
    return;
  if (attribute == kRangeStart)
    *static_cast<uint64_t*>(value) = base;
  else if (attribute == kRangeSize)
    *static_cast<size_t*>(value) = bytes;
}

} // namespace

MNEME_RECORD_API int hipMemGetAddressRange(void** base, size_t* bytes, void* inside) {
  uint64_t servedBase = 0;
  size_t servedBytes = 0;
  if (!servedRange(inside, servedBase, servedBytes))
    return forward<hipMemGetAddressRange>("hipMemGetAddressRange", base, bytes, inside);
  if (base)
    *base = reinterpret_cast<void*>(servedBase);
  if (bytes)
    *bytes = servedBytes;
  return 0;
}

MNEME_RECORD_API int hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  uint64_t servedBase = 0;
  size_t servedBytes = 0;
  if (!bytes || !servedRange(pointer, servedBase, servedBytes))
    return forward<hipMemPtrGetInfo>("hipMemPtrGetInfo", pointer, bytes);
  *bytes = servedBytes;
  return 0;
}

MNEME_RECORD_API int hipPointerGetAttribute(void* value, int attribute, void* pointer) {
  const int status =
      forward<hipPointerGetAttribute>("hipPointerGetAttribute", value, attribute, pointer);
  if (status == 0)
    correctAttribute(attribute, value, pointer);
  return status;
}

MNEME_RECORD_API int hipDrvPointerGetAttributes(unsigned count, int* attributes, void** values,
                                                void* pointer) {
  const int status = forward<hipDrvPointerGetAttributes>("hipDrvPointerGetAttributes", count,
                                                         attributes, values, pointer);
  for (unsigned index = 0; status == 0 && index < count; ++index)
    correctAttribute(attributes[index], values[index], pointer);
  return status;
}
