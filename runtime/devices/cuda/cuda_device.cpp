#include "runtime/devices/cuda/cuda_device.h"

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/devices/cuda/cuda_bulk_code.h"
#include "runtime/devices/cuda/cuda_description.h"
#include "runtime/devices/cuda/cuda_launch.h"
#include "runtime/devices/cuda/cuda_module.h"
#include "runtime/devices/cuda/cuda_textures.h"
#include "runtime/devices/cuda/device_heap.h"

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

void CudaDevice::raiseLimits(const ContextLimits& limits) {
  const ContextScope scope = context().use();
  const Driver& driver = context().driver();
  for (const NumberedLimit& limit : kContextLimits) {
    const uint64_t wanted = limits.*limit.value;
    size_t present = 0;
    if (wanted == 0 ||
        (driver.cuCtxGetLimit(&present, limit.number) == CUDA_SUCCESS && present >= wanted))
      continue;
    if (driver.cuCtxSetLimit(limit.number, wanted) != CUDA_SUCCESS)
      log(LogLevel::Warn, "the GPU refuses " + std::to_string(wanted) + " " + limit.what +
                              ", which the program had set: a kernel that needs them fails");
  }
}

uint32_t CudaDevice::usePart(uint32_t multiprocessors) {
  if (const uint32_t given = context().usePart(multiprocessors))
    streamChanged(given);
  return description_.multiprocessors;
}

/// What fails leaves launches without the heap's content.
std::optional<AddressRange> CudaDevice::heap(uint64_t sizeBytes) {
  if (heap_)
    return heap_;
  heap_ = AddressRange();
  const ContextScope scope = context().use();
  const Driver& driver = context().driver();
  size_t present = 0;
  if (driver.cuCtxGetLimit(&present, CU_LIMIT_MALLOC_HEAP_SIZE) == CUDA_SUCCESS &&
      present != sizeBytes)
    driver.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, sizeBytes);
  try {
    heap_ = findHeap(driver, context_->stream(), 0);
    useHeap(*heap_);
  } catch (const Error& error) {
    context_->probe();
    context_->requireUsable();
    log(LogLevel::Warn, error.what());
  }
  return heap_;
}

std::unique_ptr<TextureObjects> CudaDevice::makeTextures(std::span<const TextureObject> wanted) {
  context_->requireUsable();
  return cuda::makeTextures(context(), wanted);
}

void CudaDevice::prepareLaunch(gpu::LoadedKernel& module, const LaunchShape& shape) {
  cuda::prepareLaunch(context(), description_, static_cast<CudaModule&>(module), shape);
}

void CudaDevice::startLaunch(const gpu::LoadedKernel& module, const LaunchShape& shape,
                             void* const* args) {
  cuda::startLaunch(context(), static_cast<const CudaModule&>(module), shape, args);
}

uint64_t CudaDevice::elapsedNs(const LaunchShape& shape) {
  if (cupti_ && !isCounting_) {
    if (const auto time = cupti_->lastKernelNs(context_->device(), shape))
      return *time;
    cupti_ = nullptr;
    log(LogLevel::Warn, "CUPTI left no record of a kernel; times come from events from here on");
  }
  return GpuDevice::elapsedNs(shape);
}

/// Only CUPTI knows the time of each kernel among others.
namespace {

/// CUPTI remembers each kernel of the device as long as this lives.
class RememberedSeries {
public:
  RememberedSeries(Cupti& cupti, CUdevice device) : cupti_(cupti) { cupti_.startSeries(device); }
  RememberedSeries(const RememberedSeries&) = delete;
  RememberedSeries& operator=(const RememberedSeries&) = delete;
  ~RememberedSeries() { cupti_.endSeries(); }

private:
  Cupti& cupti_;
};

} // namespace

std::vector<uint64_t> CudaDevice::launchSeries(Module& module, const LaunchShape& shape,
                                               void* const* args, double timeoutSeconds,
                                               uint32_t count,
                                               const std::function<void()>& restore) {
  if (!cupti_ || isCounting_ || !canSeries_)
    return Device::launchSeries(module, shape, args, timeoutSeconds, count, restore);
  context_->requireUsable();
  auto& kernel = static_cast<gpu::LoadedKernel&>(module);
  const ContextScope scope = context_->use();
  prepareLaunch(kernel, shape);
  std::optional<std::vector<uint64_t>> times;
  {
    const RememberedSeries series(*cupti_, context_->device());
    for (uint32_t i = 0; i < count; ++i) {
      restore();
      startLaunch(kernel, shape, args);
    }
    context_->check(context_->shared().recordEvent(end_.raw(), context_->stream()),
                    "stopping the timer");
    waitForKernel(kernel.kernel(), timeoutSeconds * count);
    times = cupti_->seriesNs(shape, count);
  }
  if (times)
    return *std::move(times);
  canSeries_ = false;
  log(LogLevel::Info,
      "CUPTI left no record of each kernel in a row; from here on kernels are waited "
      "for one by one");
  return Device::launchSeries(module, shape, args, timeoutSeconds, count, restore);
}

/// Counters are read while CUPTI records no kernels.
class CudaDevice::Counting final : public CounterPasses {
public:
  explicit Counting(CudaDevice& device) : device_(device) {
    if (device_.cupti_)
      device_.cupti_->pause();
    device_.isCounting_ = true;
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting() override {
    passes_.reset();
    device_.isCounting_ = false;
    if (device_.cupti_ && !device_.cupti_->resume()) {
      device_.cupti_ = nullptr;
      log(LogLevel::Warn, "CUPTI records no more kernels; times come from events from here on");
    }
  }

  void start() { passes_ = cuda::startCounters(device_.context(), *device_.counterPlan_); }
  void begin() override { passes_->begin(); }
  bool end() override { return passes_->end(); }
  std::vector<double> values() override { return passes_->values(); }

private:
  CudaDevice& device_;
  std::unique_ptr<CounterPasses> passes_;
};

std::unique_ptr<CounterPasses> CudaDevice::startCounters(const std::vector<std::string>& names) {
  context_->requireUsable();
  auto counting = std::make_unique<Counting>(*this);
  if (!counterPlan_ || counterPlan_->names() != names) {
    counterPlan_.reset();
    counterPlan_ = std::make_unique<CounterPlan>(context(), description_.name, names);
  }
  counting->start();
  return counting;
}

const char* CudaDevice::timerName() const { return cupti_ ? "cupti" : "events"; }

} // namespace mneme::device::cuda
