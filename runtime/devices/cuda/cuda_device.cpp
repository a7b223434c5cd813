#include "runtime/devices/cuda/cuda_device.h"

#include "runtime/core/base/log.h"
#include "runtime/devices/cuda/cuda_bulk_code.h"
#include "runtime/devices/cuda/cuda_description.h"
#include "runtime/devices/cuda/cuda_launch.h"
#include "runtime/devices/cuda/cuda_module.h"

namespace mneme::device::cuda {

namespace {

/// Nothing is started for a GPU that is not there.
Cupti* startCupti(int ordinal) {
  int count = 0;
  const bool isThere = Driver::get().cuDeviceGetCount(&count) == CUDA_SUCCESS && ordinal < count;
  return isThere ? Cupti::find() : nullptr;
}

} // namespace

CudaDevice::CudaDevice(int ordinal) : CudaDevice(startCupti(ordinal), ordinal) {}

CudaDevice::CudaDevice(Cupti* cupti, int ordinal)
    : GpuDevice(std::make_unique<Context>(ordinal), bulkCode(),
                [](int device) { return describeGpu(Driver::get(), device); }),
      cupti_(cupti) {}

std::unique_ptr<Module> CudaDevice::load(std::span<const std::byte> image,
                                         const std::string& kernel,
                                         std::span<const GlobalPlacement>) {
  return std::make_unique<CudaModule>(context(), description_, image, kernel);
}

void CudaDevice::prepareLaunch(gpu::LoadedKernel& module, const LaunchShape& shape) {
  cuda::prepareLaunch(context(), description_, static_cast<CudaModule&>(module), shape);
}

void CudaDevice::startLaunch(const gpu::LoadedKernel& module, const LaunchShape& shape,
                             void* const* args) {
  cuda::startLaunch(context(), static_cast<const CudaModule&>(module), shape, args);
}

uint64_t CudaDevice::elapsedNs(const LaunchShape& shape) {
  if (cupti_) {
    if (const auto time = cupti_->lastKernelNs(context_->device(), shape))
      return *time;
    cupti_ = nullptr;
    log(LogLevel::Warn, "CUPTI left no record of a kernel; times come from events from here on");
  }
  return GpuDevice::elapsedNs(shape);
}

const char* CudaDevice::timerName() const { return cupti_ ? "cupti" : "events"; }

} // namespace mneme::device::cuda
