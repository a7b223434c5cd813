#include "runtime/devices/gpu/gpu_device.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/devices/gpu/gpu_launch.h"

namespace mneme::device::gpu {

namespace {

/// How much of the heap is copied at once.
constexpr size_t kDetourBytes = 4 << 20;

void checkPages(uint64_t pageBytes) {
  if (pageBytes == 0)
    throw Error(ErrorCode::InvalidArgument, "pages of 0 bytes cannot be compared or hashed");
}

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", seconds);
  return text;
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

GpuDevice::GpuDevice(std::unique_ptr<Context> context, const BulkCode& code,
                     Description (*describe)(int device))
    : context_(std::move(context)), description_(describe(context_->device())), space_(*context_),
      copies_(*context_),
      runner_(context_->shared(), code, context_->stream(), description_.multiprocessors),
      operations_(runner_) {
  const ContextScope scope = context_->use();
  start_ = Event(context_->shared(), kTimedEvent);
  end_ = Event(context_->shared(), kTimedEvent);
}

void GpuDevice::streamChanged(uint32_t multiprocessors) {
  description_.multiprocessors = multiprocessors;
  runner_.use(context_->stream(), multiprocessors);
}

GpuDevice::~GpuDevice() {
  if (context_->isHung()) {
    runner_.abandon();
    leak(start_);
    leak(end_);
    leak(evictor_);
    leak(detour_);
    return;
  }
  // The members below need the context to be current; the context itself goes last.
  context_->whenFreeing([this] {
    context_->shared().waitForStream(context_->stream());
    runner_.release();
    start_ = Event();
    end_ = Event();
    evictor_ = DeviceRange();
    detour_ = DeviceRange();
  });
}

uint64_t GpuDevice::reserve(uint64_t address, uint64_t sizeBytes) {
  return space_.reserve(address, sizeBytes);
}

void GpuDevice::release(uint64_t address, uint64_t sizeBytes) noexcept {
  space_.release(address, sizeBytes);
}

void GpuDevice::map(uint64_t address, uint64_t sizeBytes) { space_.map(address, sizeBytes); }

void GpuDevice::unmap(uint64_t address, uint64_t sizeBytes) noexcept {
  space_.unmap(address, sizeBytes);
}

void GpuDevice::copyToHost(void* destination, uint64_t source, size_t sizeBytes) {
  if (isOnHeap(source)) {
    auto* to = static_cast<std::byte*>(destination);
    for (size_t done = 0; done < sizeBytes; done += kDetourBytes) {
      const size_t bytes = std::min<size_t>(kDetourBytes, sizeBytes - done);
      const uint64_t detoured = detour(kDetourBytes);
      copyFromDetour(detoured, source + done, bytes);
      copies_.toHost(to + done, detoured, bytes);
    }
    return;
  }
  space_.requireAccess(source, sizeBytes, "a copy to the host");
  copies_.toHost(destination, source, sizeBytes);
}

void GpuDevice::copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) {
  if (isOnHeap(destination)) {
    const auto* from = static_cast<const std::byte*>(source);
    for (size_t done = 0; done < sizeBytes; done += kDetourBytes) {
      const size_t bytes = std::min<size_t>(kDetourBytes, sizeBytes - done);
      const uint64_t detoured = detour(kDetourBytes);
      copies_.toDevice(detoured, from + done, bytes);
      copyFromDetour(destination + done, detoured, bytes);
    }
    return;
  }
  space_.requireAccess(destination, sizeBytes, "a copy to the device");
  copies_.toDevice(destination, source, sizeBytes);
}

std::unique_ptr<StagingBuffer> GpuDevice::makeStaging(size_t sizeBytes) {
  return copies_.makeStaging(sizeBytes);
}

uint64_t GpuDevice::startCopyToDevice(uint64_t destination, StagingBuffer& source,
                                      size_t sizeBytes) {
  if (isOnHeap(destination) && sizeBytes > 0) {
    const uint64_t detoured = detour(std::max<uint64_t>(kDetourBytes, sizeBytes));
    const uint64_t ticket = copies_.start(detoured, source, sizeBytes);
    copyFromDetour(destination, detoured, sizeBytes);
    return ticket;
  }
  space_.requireAccess(destination, sizeBytes, "a copy to the device");
  return copies_.start(destination, source, sizeBytes);
}

void GpuDevice::waitForCopy(uint64_t ticket) { copies_.wait(ticket); }

template <typename Action> auto GpuDevice::bulk(const Action& action) {
  context_->requireUsable();
  const ContextScope scope = context_->use();
  try {
    return action();
  } catch (...) {
    context_->probe();
    throw;
  }
}

/// Memory of the vendor's own for copies of the heap.
uint64_t GpuDevice::detour(uint64_t sizeBytes) {
  if (detour_.sizeBytes() < sizeBytes)
    bulk([&] {
      context_->check(context_->shared().waitForStream(context_->stream()), "copying the heap");
      detour_ = DeviceRange::allocate(context_->shared(), context_->device(), sizeBytes);
    });
  return detour_.address();
}

void GpuDevice::copyFromDetour(uint64_t destination, uint64_t source, uint64_t sizeBytes) {
  const CopyRange range{destination, source, sizeBytes};
  bulk([&] { operations_.restore({&range, 1}); });
}

void GpuDevice::hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
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

std::vector<uint64_t> GpuDevice::diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                           uint64_t pageBytes) {
  checkPages(pageBytes);
  space_.requireAccess(first, sizeBytes, "the comparison");
  space_.requireAccess(second, sizeBytes, "the comparison");
  return bulk([&] { return operations_.diffPages(first, second, sizeBytes, pageBytes); });
}

void GpuDevice::requireAccess(std::span<const CopyRange> ranges) const {
  for (const CopyRange& range : ranges) {
    space_.requireAccess(range.source, range.sizeBytes, "the restoration");
    space_.requireAccess(range.destination, range.sizeBytes, "the restoration");
  }
}

void GpuDevice::restore(std::span<const CopyRange> ranges) {
  requireAccess(ranges);
  bulk([&] { operations_.restore(ranges); });
}

/// The table of the ranges stays on the device: nothing crosses the bus for a restoration.
class GpuDevice::RestoreFromTable final : public PreparedRestore {
public:
  RestoreFromTable(GpuDevice& device, std::span<const CopyRange> ranges)
      : device_(device), plan_(ranges, device.description_.multiprocessors) {
    const std::span<const std::byte> table = plan_.table();
    if (table.empty())
      return;
    device.bulk([&] {
      table_ =
          DeviceRange::allocate(device.context_->shared(), device.context_->device(), table.size());
      device.runner_.copyToDevice(table_.address(), table.data(), table.size());
    });
  }
  RestoreFromTable(const RestoreFromTable&) = delete;
  RestoreFromTable& operator=(const RestoreFromTable&) = delete;
  ~RestoreFromTable() override {
    if (device_.context_->isHung()) {
      leak(table_);
      return;
    }
    try {
      const ContextScope scope = device_.context_->use();
      device_.context_->shared().waitForStream(device_.context_->stream());
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
  GpuDevice& device_;
  CopyPlan plan_;
  DeviceRange table_;
};

std::unique_ptr<PreparedRestore> GpuDevice::prepareRestore(std::vector<CopyRange> ranges) {
  requireAccess(ranges);
  return std::make_unique<RestoreFromTable>(*this, ranges);
}

std::vector<CompareReport> GpuDevice::compare(std::span<const CompareRequest> requests) {
  for (const CompareRequest& request : requests) {
    space_.requireAccess(request.actual, request.sizeBytes, "the verification");
    space_.requireAccess(request.expected, request.sizeBytes, "the verification");
  }
  return bulk([&] { return operations_.compare(requests); });
}

uint64_t GpuDevice::launch(Module& module, const LaunchShape& shape, void* const* args,
                           double timeoutSeconds) {
  context_->requireUsable();
  auto& kernel = static_cast<LoadedKernel&>(module);
  const ContextScope scope = context_->use();
  prepareLaunch(kernel, shape);
  startTimedLaunch(kernel, shape, args);
  waitForKernel(kernel.kernel(), timeoutSeconds);
  return elapsedNs(shape);
}

std::optional<uint64_t> GpuDevice::memoryLeft() {
  const ContextScope scope = context_->use();
  size_t free = 0, total = 0;
  if (context_->shared().memoryLeft(&free, &total) != kSuccess)
    return std::nullopt;
  return free;
}

void GpuDevice::startTimedLaunch(const LoadedKernel& module, const LaunchShape& shape,
                                 void* const* args) {
  const Driver& driver = context_->shared();
  context_->check(driver.recordEvent(start_.raw(), context_->stream()), "starting the timer");
  startLaunch(module, shape, args);
  context_->check(driver.recordEvent(end_.raw(), context_->stream()), "stopping the timer");
}

void GpuDevice::waitForKernel(const std::string& kernel, double timeoutSeconds) {
  const Driver& driver = context_->shared();
  Status result = waitFor(driver, end_.raw(), timeoutSeconds);
  if (result == kNotReady) {
    context_->markHung();
    leaveWithoutWaiting();
    throw Error(ErrorCode::DeviceFailed,
                "kernel '" + kernel + "' ran longer than " + secondsText(timeoutSeconds) +
                    " s; it cannot be stopped, so this process cannot use device " +
                    description_.id + " any more");
  }
  if (result == kSuccess) // what the kernel printed comes out only when asked like this
    result = driver.waitForStream(context_->stream());
  if (result != kSuccess) [[unlikely]]
    context_->check(result, "kernel '" + kernel + "'");
}

uint64_t GpuDevice::elapsedNs(const LaunchShape&) {
  float milliseconds = 0;
  context_->check(context_->shared().millisecondsBetween(&milliseconds, start_.raw(), end_.raw()),
                  "reading the timer");
  return static_cast<uint64_t>(std::llround(double{milliseconds} * 1e6));
}

void GpuDevice::flushCaches() {
  bulk([&] {
    const uint64_t bytes = std::max<uint64_t>(2 * cacheBytes(), 8 << 20);
    if (evictor_.sizeBytes() < bytes)
      evictor_ = DeviceRange::allocate(context_->shared(), context_->device(), bytes);
    context_->check(
        context_->shared().fill(evictor_.address(), ++evictorValue_, bytes, context_->stream()),
        "flushing the GPU's caches");
  });
}

} // namespace mneme::device::gpu
