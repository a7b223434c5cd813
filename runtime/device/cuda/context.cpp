#include "runtime/device/cuda/context.h"

#include "runtime/base/error.h"

namespace mneme::device::cuda {

namespace {

CUdevice deviceAt(const Driver& driver, int ordinal) {
  int count = 0;
  check(driver.cuDeviceGetCount(&count), "counting the GPUs");
  if (ordinal >= count)
    throw Error(ErrorCode::BackendUnavailable, "there is no GPU number " + std::to_string(ordinal) +
                                                   "; this process sees " + std::to_string(count) +
                                                   " (counted from 0; see CUDA_VISIBLE_DEVICES)");
  CUdevice device = 0;
  check(driver.cuDeviceGet(&device, ordinal), "opening GPU " + std::to_string(ordinal));
  return device;
}

} // namespace

Context::Context(int ordinal) : driver_(Driver::get()), device_(deviceAt(driver_, ordinal)) {
  if (!attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
    throw Error(ErrorCode::BackendUnavailable,
                "GPU " + std::to_string(ordinal) +
                    " cannot give memory at chosen addresses (no virtual memory management)");
  cuda::check(driver_.cuDevicePrimaryCtxRetain(&context_, device_),
              "starting GPU " + std::to_string(ordinal));
  try {
    const ContextScope scope = use();
    cuda::check(driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "making a stream");
  } catch (...) {
    driver_.cuDevicePrimaryCtxRelease(device_);
    throw;
  }
}

Context::~Context() {
  if (isHung_)
    return;
  CUcontext ignored = nullptr;
  if (driver_.cuCtxPushCurrent(context_) == CUDA_SUCCESS) {
    driver_.cuStreamDestroy(stream_);
    driver_.cuCtxPopCurrent(&ignored);
  }
  driver_.cuDevicePrimaryCtxRelease(device_);
}

int Context::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  return driver_.cuDeviceGetAttribute(&value, attribute, device_) == CUDA_SUCCESS ? value : 0;
}

void Context::requireUsable() const {
  if (isLost_)
    throw Error(ErrorCode::DeviceFailed,
                "the GPU's context was lost to an earlier failure; continue in a fresh process");
}

void Context::probe() noexcept {
  if (!isLost_ && isSticky(driver_.cuStreamQuery(stream_)))
    isLost_ = true;
}

void Context::failed(CUresult result, std::string_view what) {
  if (isSticky(result))
    isLost_ = true;
  fail(result, what);
}

} // namespace mneme::device::cuda
