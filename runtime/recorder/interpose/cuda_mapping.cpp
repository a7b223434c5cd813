// Room recorder: CUDA's driver API for memory that programs map themselves. Only names, signatures
// and constants of the vendor; what is done about them is in ../served_memory.h.
#include <mutex>
#include <set>

#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

using Address = unsigned long long;
using Handle = unsigned long long;

/// Handles of memory of several devices at once, which kernels cannot read as other memory.
struct Multicasts {
  std::mutex mutex;
  std::set<Handle> handles;
};
Multicasts& multicasts() {
  static auto& all = *new Multicasts;
  return all;
}

bool isMulticast(Handle handle) {
  const std::lock_guard lock(multicasts().mutex);
  return multicasts().handles.contains(handle);
}

} // namespace

MNEME_RECORD_API int cuMemAddressReserve(Address* address, size_t bytes, size_t alignment,
                                         Address wanted, unsigned long long flags) {
  const auto reserve = [&](uint64_t place) {
    return forward<cuMemAddressReserve>("cuMemAddressReserve", address, bytes, alignment,
                                        static_cast<Address>(place), flags);
  };
  if (wanted != 0)
    return reserve(wanted);
  return serveReservation(bytes, alignment, reserve);
}

MNEME_RECORD_API int cuMemMap(Address address, size_t bytes, size_t offset, Handle handle,
                              unsigned long long flags) {
  return watchMapping(address, bytes, !isMulticast(handle), [&] {
    return forward<cuMemMap>("cuMemMap", address, bytes, offset, handle, flags);
  });
}

MNEME_RECORD_API int cuMemUnmap(Address address, size_t bytes) {
  return watchUnmapping(address, bytes,
                        [&] { return forward<cuMemUnmap>("cuMemUnmap", address, bytes); });
}

MNEME_RECORD_API int cuMemSetAccess(Address address, size_t bytes, const void* access,
                                    size_t count) {
  return transfer<cuMemSetAccess>("cuMemSetAccess", address, bytes, access, count);
}

MNEME_RECORD_API int cuMulticastCreate(Handle* handle, const void* properties) {
  const int status = forward<cuMulticastCreate>("cuMulticastCreate", handle, properties);
  if (status == 0 && handle) {
    const std::lock_guard lock(multicasts().mutex);
    multicasts().handles.insert(*handle);
  }
  return status;
}

/// Every process that takes part calls it, of which only one made the handle.
MNEME_RECORD_API int cuMulticastAddDevice(Handle handle, int device) {
  const int status = forward<cuMulticastAddDevice>("cuMulticastAddDevice", handle, device);
  if (status == 0) {
    const std::lock_guard lock(multicasts().mutex);
    multicasts().handles.insert(handle);
  }
  return status;
}

MNEME_RECORD_API int cuMemRelease(Handle handle) {
  {
    const std::lock_guard lock(multicasts().mutex);
    multicasts().handles.erase(handle);
  }
  return forward<cuMemRelease>("cuMemRelease", handle);
}
