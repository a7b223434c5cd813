#include "runtime/recorder/backends/gpu/device_drain.h"

#include <algorithm>
#include <sched.h>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/gpu/device_range.h"

namespace mneme::record::gpu {

using device::gpu::DeviceRange;

namespace {

/// Host memory is let go in pieces of this size, as their content is written.
constexpr uint64_t kSlabBytes = 64 << 20;
/// Less than this crosses the bus at once: starting threads would take longer.
constexpr uint64_t kSmallBytes = 4 << 20;
constexpr size_t kSmallRuns = 64;
/// Shadows are given back one by one as their content arrives on the host.
constexpr uint64_t kShadowBytes = 1ull << 30;

/// A quarter of the processors this process may use: the others are the application's.
unsigned copyThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::clamp(CPU_COUNT(&set) / 4, 1, 8);
}

/// Lays the pieces out in slabs, one behind the other.
Drained layOut(std::span<const DrainPiece> pieces) {
  Drained drained;
  drained.pieces.reserve(pieces.size());
  uint64_t left = 0;
  for (const DrainPiece& piece : pieces)
    left += piece.sizeBytes;
  uint64_t used = 0;
  for (const DrainPiece& piece : pieces) {
    if (drained.slabs.empty() || used + piece.sizeBytes > drained.slabs.back().sizeBytes) {
      drained.slabs.push_back(
          makeSlab(std::max<uint64_t>(std::min(left, kSlabBytes), piece.sizeBytes)));
      used = 0;
    }
    drained.pieces.emplace_back(drained.slabs.back().memory.get() + used, piece.sizeBytes);
    used += piece.sizeBytes;
    left -= piece.sizeBytes;
  }
  return drained;
}

/// Neighbours in device and in host memory become one task if they are of one region.
std::vector<CopyTask> joinTasks(std::span<const DrainPiece> pieces, const Drained& drained) {
  std::vector<CopyTask> tasks;
  for (size_t i = 0; i < pieces.size(); ++i) {
    auto* const destination = const_cast<std::byte*>(drained.pieces[i].data());
    if (!tasks.empty() && !pieces[i].startsRegion) {
      CopyTask& last = tasks.back();
      if (last.source + last.sizeBytes == pieces[i].address &&
          last.destination + last.sizeBytes == destination) {
        last.sizeBytes += pieces[i].sizeBytes;
        continue;
      }
    }
    tasks.push_back({pieces[i].address, destination, pieces[i].sizeBytes});
  }
  return tasks;
}

/// The tasks from `first` on that fit into one shadow; one task is never larger than a slab plus.
size_t endOfShadow(const std::vector<CopyTask>& tasks, size_t first, uint64_t& sizeBytes) {
  sizeBytes = 0;
  size_t end = first;
  while (end < tasks.size() && (end == first || sizeBytes + tasks[end].sizeBytes <= kShadowBytes))
    sizeBytes += tasks[end++].sizeBytes;
  return end;
}

} // namespace

/// Device memory of ours, given back on destruction.
struct DeviceDrain::Shadow {
  DeviceDrain& drain;
  DeviceRange range;

  ~Shadow() {
    const uint64_t bytes = range.sizeBytes();
    {
      const DeviceRange gone = std::move(range);
    }
    {
      const std::lock_guard lock(drain.mutex_);
      drain.heldBytes_ -= bytes;
    }
    drain.changed_.notify_all();
  }
};

DeviceDrain::DeviceDrain(const Side& side, StreamHandle stream)
    : side_(side), stream_(stream), team_(side, copyThreads()) {
  thread_ = std::thread([this] { run(); });
}

DeviceDrain::~DeviceDrain() {
  finish();
  {
    const std::lock_guard lock(mutex_);
    isStopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::shared_ptr<DeviceDrain::Shadow> DeviceDrain::makeShadow(uint64_t sizeBytes) {
  size_t free = 0, total = 0;
  const Driver& driver = side_.driver();
  driver.require(driver.memoryLeft(&free, &total), "asking for free device memory");
  // The rest stays for what the application may allocate meanwhile.
  if (sizeBytes > free || free - sizeBytes < total / 8)
    return nullptr;
  try {
    DeviceRange range = DeviceRange::allocate(driver, side_.device, sizeBytes);
    const std::lock_guard lock(mutex_);
    heldBytes_ += range.sizeBytes();
    return std::shared_ptr<Shadow>(new Shadow{*this, std::move(range)});
  } catch (const Error&) {
    return nullptr;
  }
}

/// A shadow as soon as there is room; null if there is none with no other shadow held either.
std::shared_ptr<DeviceDrain::Shadow> DeviceDrain::waitForShadow(uint64_t sizeBytes) {
  while (true) {
    uint64_t held = 0;
    {
      const std::lock_guard lock(mutex_);
      held = heldBytes_;
    }
    if (auto shadow = makeShadow(sizeBytes))
      return shadow;
    if (held == 0)
      return nullptr;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return heldBytes_ < held; });
  }
}

Drained DeviceDrain::take(std::span<const DrainPiece> pieces, device::BulkOperations& bulk,
                          const std::function<void()>& synchronise) {
  Drained drained = layOut(pieces);
  const std::vector<CopyTask> tasks = joinTasks(pieces, drained);
  uint64_t total = 0;
  for (const CopyTask& task : tasks)
    total += task.sizeBytes;
  if (total <= kSmallBytes && tasks.size() <= kSmallRuns) {
    const Driver& driver = side_.driver();
    const char* what = "copying device memory to the host";
    for (const CopyTask& task : tasks)
      driver.require(driver.copyToHost(task.destination, task.source, task.sizeBytes, stream_),
                     what);
    driver.require(driver.waitForStream(stream_), what);
    return drained;
  }
  for (size_t first = 0, end = 0; first < tasks.size(); first = end) {
    uint64_t bytes = 0;
    end = endOfShadow(tasks, first, bytes);
    Job job;
    job.tasks.assign(tasks.begin() + static_cast<ptrdiff_t>(first),
                     tasks.begin() + static_cast<ptrdiff_t>(end));
    job.shadow = waitForShadow(bytes);
    if (!job.shadow) {
      finish(); // the team works for one at a time
      team_.move(job.tasks);
      continue;
    }
    std::vector<device::CopyRange> ranges;
    uint64_t shadow = job.shadow->range.address();
    for (CopyTask& task : job.tasks) {
      ranges.push_back({shadow, task.source, task.sizeBytes});
      task.source = shadow;
      shadow += task.sizeBytes;
    }
    try {
      bulk.restore(ranges);
    } catch (...) {
      synchronise(); // a copy that was started must not lose its shadow
      throw;
    }
    synchronise();
    job.slabs = drained.slabs;
    push(std::move(job));
  }
  return drained;
}

void DeviceDrain::afterwards(std::function<void(std::exception_ptr)> action) {
  Job job;
  job.action = std::move(action);
  push(std::move(job));
}

void DeviceDrain::push(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

bool DeviceDrain::giveBack() noexcept {
  std::unique_lock lock(mutex_);
  const bool wasHeld = heldBytes_ > 0;
  changed_.wait(lock, [&] { return heldBytes_ == 0; });
  return wasHeld;
}

void DeviceDrain::finish() noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && !isWorking_; });
}

void DeviceDrain::run() {
  const BlockedSignals signals;
  ContextHandle before = nullptr;
  side_.driver().enter(side_.context, &before); // shadows are given back here
  side_.vendor->keepOffCaptures();
  std::exception_ptr failure;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return isStopped_ || !jobs_.empty(); });
    if (jobs_.empty())
      return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    isWorking_ = true;
    lock.unlock();
    try {
      if (!job.tasks.empty() && !failure)
        team_.move(job.tasks);
    } catch (...) {
      failure = std::current_exception();
    }
    job.shadow.reset();
    if (job.action) {
      job.action(failure);
      failure = nullptr;
    }
    job = Job();
    lock.lock();
    isWorking_ = false;
    changed_.notify_all();
  }
}

} // namespace mneme::record::gpu
