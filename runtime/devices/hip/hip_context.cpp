#include "runtime/devices/hip/hip_context.h"

#include "runtime/core/base/error.h"
#include "runtime/devices/hip/hip_description.h"

namespace mneme::device::hip {

Context::Context(int ordinal) : gpu::Context(Driver::get(), deviceAt(Driver::get(), ordinal)) {
  if (!attribute(hipDeviceAttributeVirtualMemoryManagementSupported))
    throw Error(ErrorCode::BackendUnavailable,
                "GPU " + std::to_string(ordinal) +
                    " cannot give memory at chosen addresses (no virtual memory management; it "
                    "takes ROCm 6.2 or newer and this is " +
                    driverText(driver()) + ")");
  context_ = contextOf(device_);
  const gpu::ContextScope scope = use();
  driver_.require(driver_.createStream(&stream_), "making a stream");
}

Context::~Context() {
  whenFreeing([this] { driver_.destroyStream(stream_); });
}

int Context::attribute(hipDeviceAttribute_t attribute) const {
  int value = 0;
  return driver().hipDeviceGetAttribute(&value, attribute, device_) == hipSuccess ? value : 0;
}

} // namespace mneme::device::hip
