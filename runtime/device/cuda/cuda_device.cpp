#include "runtime/device/cuda/cuda_device.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/device/cuda/cuda_module.h"
#include "runtime/device/cuda/description.h"
#include "runtime/device/cuda/launch.h"

namespace mneme::device::cuda {

namespace {

void checkPages(uint64_t pageBytes) {
  if (pageBytes == 0)
    throw Error(ErrorCode::InvalidArgument, "pages of 0 bytes cannot be compared or hashed");
}

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", seconds);
  return text;
}

/// Nothing is started for a GPU that is not there.
Cupti* startCupti(int ordinal) {
  int count = 0;
  const bool isThere = Driver::get().cuDeviceGetCount(&count) == CUDA_SUCCESS && ordinal < count;
  return isThere ? Cupti::find() : nullptr;
}

/// Leaves what freeing would wait for a kernel that never ends.
template <typename Resource> void leak(Resource& resource) { new Resource(std::move(resource)); }

/// The libraries of the driver wait for kernels when the process ends; with one that never does,
/// the process ends without asking them.
void leaveWithoutWaiting() {
  static const bool isRegistered [[maybe_unused]] = [] {
    return on_exit(
               [](int status, void*) {
                 std::fflush(nullptr);
                 _exit(status);
               },
               nullptr) == 0;
  }();
}

} // namespace

CudaDevice::CudaDevice(int ordinal)
    : cupti_(startCupti(ordinal)), context_(ordinal),
      description_(describeGpu(context_.driver(), context_.device())), space_(context_),
      copies_(context_),
      runner_(context_.driver(), context_.stream(), description_.multiprocessors),
      operations_(runner_) {
  const ContextScope scope = context_.use();
  start_ = Event(context_.driver(), CU_EVENT_DEFAULT);
  end_ = Event(context_.driver(), CU_EVENT_DEFAULT);
}

CudaDevice::~CudaDevice() {
  if (context_.isHung()) {
    runner_.abandon();
    leak(start_);
    leak(end_);
    leak(evictor_);
    return;
  }
  // The members below need the context to be current; the context itself goes last.
  CUcontext ignored = nullptr;
  if (context_.driver().cuCtxPushCurrent(context_.raw()) != CUDA_SUCCESS)
    return;
  context_.driver().cuStreamSynchronize(context_.stream());
  runner_.release();
  start_ = Event();
  end_ = Event();
  evictor_ = DeviceRange();
  context_.driver().cuCtxPopCurrent(&ignored);
}

uint64_t CudaDevice::reserve(uint64_t address, uint64_t sizeBytes) {
  return space_.reserve(address, sizeBytes);
}

void CudaDevice::release(uint64_t address, uint64_t sizeBytes) noexcept {
  space_.release(address, sizeBytes);
}

void CudaDevice::map(uint64_t address, uint64_t sizeBytes) { space_.map(address, sizeBytes); }

void CudaDevice::unmap(uint64_t address, uint64_t sizeBytes) noexcept {
  space_.unmap(address, sizeBytes);
}

void CudaDevice::copyToHost(void* destination, uint64_t source, size_t sizeBytes) {
  space_.requireAccess(source, sizeBytes, "a copy to the host");
  copies_.toHost(destination, source, sizeBytes);
}

void CudaDevice::copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) {
  space_.requireAccess(destination, sizeBytes, "a copy to the device");
  copies_.toDevice(destination, source, sizeBytes);
}

std::unique_ptr<StagingBuffer> CudaDevice::makeStaging(size_t sizeBytes) {
  return copies_.makeStaging(sizeBytes);
}

uint64_t CudaDevice::startCopyToDevice(uint64_t destination, StagingBuffer& source,
                                       size_t sizeBytes) {
  space_.requireAccess(destination, sizeBytes, "a copy to the device");
  return copies_.start(destination, source, sizeBytes);
}

void CudaDevice::waitForCopy(uint64_t ticket) { copies_.wait(ticket); }

template <typename Action> auto CudaDevice::bulk(const Action& action) {
  context_.requireUsable();
  const ContextScope scope = context_.use();
  try {
    return action();
  } catch (...) {
    context_.probe();
    throw;
  }
}

void CudaDevice::hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                           std::span<Hash128> hashes) {
  checkPages(pageBytes);
  const uint64_t pages = sizeBytes / pageBytes + (sizeBytes % pageBytes != 0);
  if (hashes.size() < pages)
    throw Error(ErrorCode::InvalidArgument, "there is room for " + std::to_string(hashes.size()) +
                                                " hashes, not for " + std::to_string(pages));
  space_.requireAccess(address, sizeBytes, "the hashing");
  const HashRequest request{address, sizeBytes, hashes};
  bulk([&] { operations_.hashPages({&request, 1}, pageBytes); });
}

std::vector<uint64_t> CudaDevice::diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                            uint64_t pageBytes) {
  checkPages(pageBytes);
  space_.requireAccess(first, sizeBytes, "the comparison");
  space_.requireAccess(second, sizeBytes, "the comparison");
  return bulk([&] { return operations_.diffPages(first, second, sizeBytes, pageBytes); });
}

void CudaDevice::requireAccess(std::span<const CopyRange> ranges) const {
  for (const CopyRange& range : ranges) {
    space_.requireAccess(range.source, range.sizeBytes, "the restoration");
    space_.requireAccess(range.destination, range.sizeBytes, "the restoration");
  }
}

void CudaDevice::restore(std::span<const CopyRange> ranges) {
  requireAccess(ranges);
  bulk([&] { operations_.restore(ranges); });
}

/// The table of the ranges stays on the device: nothing crosses the bus for a restoration.
class CudaDevice::RestoreFromTable final : public PreparedRestore {
public:
  RestoreFromTable(CudaDevice& device, std::span<const CopyRange> ranges)
      : device_(device), plan_(ranges, device.description_.multiprocessors) {
    const std::span<const std::byte> table = plan_.table();
    if (table.empty())
      return;
    device.bulk([&] {
      table_ =
          DeviceRange::allocate(device.context_.driver(), device.context_.device(), table.size());
      device.runner_.copyToDevice(table_.address(), table.data(), table.size());
    });
  }
  RestoreFromTable(const RestoreFromTable&) = delete;
  RestoreFromTable& operator=(const RestoreFromTable&) = delete;
  ~RestoreFromTable() override {
    if (device_.context_.isHung()) {
      leak(table_);
      return;
    }
    try {
      const ContextScope scope = device_.context_.use();
      device_.context_.driver().cuStreamSynchronize(device_.context_.stream());
      table_ = DeviceRange();
    } catch (const std::exception& failure) {
      log(LogLevel::Warn, failure.what());
      leak(table_);
    }
  }

  void run() override {
    device_.bulk([&] { device_.operations_.run(plan_, table_.address()); });
  }

private:
  CudaDevice& device_;
  CopyPlan plan_;
  DeviceRange table_;
};

std::unique_ptr<PreparedRestore> CudaDevice::prepareRestore(std::vector<CopyRange> ranges) {
  requireAccess(ranges);
  return std::make_unique<RestoreFromTable>(*this, ranges);
}

std::vector<CompareReport> CudaDevice::compare(std::span<const CompareRequest> requests) {
  for (const CompareRequest& request : requests) {
    space_.requireAccess(request.actual, request.sizeBytes, "the verification");
    space_.requireAccess(request.expected, request.sizeBytes, "the verification");
  }
  return bulk([&] { return operations_.compare(requests); });
}

std::unique_ptr<Module> CudaDevice::load(std::span<const std::byte> image,
                                         const std::string& kernel,
                                         std::span<const GlobalPlacement>) {
  return std::make_unique<CudaModule>(context_, description_, image, kernel);
}

uint64_t CudaDevice::launch(Module& module, const LaunchShape& shape, void* const* args,
                            double timeoutSeconds) {
  context_.requireUsable();
  auto& kernel = static_cast<CudaModule&>(module);
  const Driver& driver = context_.driver();
  const ContextScope scope = context_.use();
  prepareLaunch(context_, description_, kernel, shape);
  context_.check(driver.cuEventRecord(start_.raw(), context_.stream()), "starting the timer");
  startLaunch(context_, kernel, shape, args);
  context_.check(driver.cuEventRecord(end_.raw(), context_.stream()), "stopping the timer");
  waitForKernel(kernel.kernel(), timeoutSeconds);
  return elapsedNs(shape);
}

void CudaDevice::waitForKernel(const std::string& kernel, double timeoutSeconds) {
  const Driver& driver = context_.driver();
  CUresult result = waitFor(driver, end_.raw(), timeoutSeconds);
  if (result == CUDA_ERROR_NOT_READY) {
    context_.markHung();
    leaveWithoutWaiting();
    throw Error(ErrorCode::DeviceFailed,
                "kernel '" + kernel + "' ran longer than " + secondsText(timeoutSeconds) +
                    " s; it cannot be stopped, so this process cannot use device " +
                    description_.id + " any more");
  }
  if (result == CUDA_SUCCESS) // what the kernel printed comes out only when asked like this
    result = driver.cuStreamSynchronize(context_.stream());
  if (result != CUDA_SUCCESS) [[unlikely]]
    context_.check(result, "kernel '" + kernel + "'");
}

uint64_t CudaDevice::elapsedNs(const LaunchShape& shape) {
  if (cupti_) {
    if (const auto time = cupti_->lastKernelNs(context_.device(), shape))
      return *time;
    cupti_ = nullptr;
    log(LogLevel::Warn, "CUPTI left no record of a kernel; times come from events from here on");
  }
  float milliseconds = 0;
  context_.check(context_.driver().cuEventElapsedTime(&milliseconds, start_.raw(), end_.raw()),
                 "reading the timer");
  return static_cast<uint64_t>(std::llround(double{milliseconds} * 1e6));
}

const char* CudaDevice::timerName() const { return cupti_ ? "cupti" : "events"; }

void CudaDevice::flushCaches() {
  bulk([&] {
    const uint64_t bytes = std::max<uint64_t>(2 * description_.l2CacheBytes, 8 << 20);
    if (evictor_.sizeBytes() < bytes)
      evictor_ = DeviceRange::allocate(context_.driver(), context_.device(), bytes);
    context_.check(context_.driver().cuMemsetD8Async(evictor_.address(), ++evictorValue_, bytes,
                                                     context_.stream()),
                   "flushing the GPU's caches");
  });
}

} // namespace mneme::device::cuda
