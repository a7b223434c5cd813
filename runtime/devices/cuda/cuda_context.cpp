#include "runtime/devices/cuda/cuda_context.h"

#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/cuda_description.h"

namespace mneme::device::cuda {

Context::Context(int ordinal) : gpu::Context(Driver::get(), deviceAt(Driver::get(), ordinal)) {
  if (!attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
    throw Error(ErrorCode::BackendUnavailable,
                "GPU " + std::to_string(ordinal) +
                    " cannot give memory at chosen addresses (no virtual memory management)");
  cuda::check(driver().cuDevicePrimaryCtxRetain(&context_, device_),
              "starting GPU " + std::to_string(ordinal));
  try {
    const ContextScope scope = use();
    cuda::check(driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "making a stream");
  } catch (...) {
    driver().cuDevicePrimaryCtxRelease(device_);
    throw;
  }
}

Context::~Context() {
  if (isHung())
    return;
  whenFreeing([this] {
    if (part_.context)
      destroyPart(driver(), part_);
    else
      driver().cuStreamDestroy(stream_);
  });
  driver().cuDevicePrimaryCtxRelease(device_);
}

uint32_t Context::usePart(uint32_t multiprocessors) {
  const ContextScope scope = use();
  if (part_.context)
    return part_.multiprocessors;
  const std::optional<DevicePart> part = makePart(driver(), device_, multiprocessors);
  if (!part)
    return 0;
  driver().cuStreamDestroy(stream_);
  part_ = *part;
  stream_ = part->stream;
  return part->multiprocessors;
}

int Context::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  return driver().cuDeviceGetAttribute(&value, attribute, device_) == CUDA_SUCCESS ? value : 0;
}

} // namespace mneme::device::cuda
