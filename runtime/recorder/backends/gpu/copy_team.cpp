#include "runtime/recorder/backends/gpu/copy_team.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/gpu/pinned.h"

namespace mneme::record::gpu {

namespace {

constexpr uint64_t kBufferBytes = 8 << 20;
constexpr size_t kMaxBatch = 256;

} // namespace

/// Its context is current where it is made and destroyed.
struct CopyTeam::Worker {
  explicit Worker(const Driver& used) : driver(used) {}
  ~Worker() {
    if (stream)
      driver.destroyStream(stream);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const Driver& driver;
  device::gpu::PinnedBuffer buffer;
  StreamHandle stream = nullptr;
};

CopyTeam::CopyTeam(const Side& side, unsigned threads)
    : side_(side), threadCount_(std::max(1u, threads)) {}

CopyTeam::~CopyTeam() {
  {
    const std::lock_guard lock(mutex_);
    isStopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void CopyTeam::start() {
  while (threads_.size() < threadCount_) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty())
        throw Error(ErrorCode::OutOfMemory, "no thread can be started to copy device memory");
      return; // fewer do the same work
    }
  }
}

void CopyTeam::move(std::span<const CopyTask> tasks) {
  start();
  std::unique_lock lock(mutex_);
  tasks_ = tasks;
  next_ = 0;
  nextByte_ = 0;
  failure_ = nullptr;
  changed_.notify_all();
  changed_.wait(lock, [&] { return busy_ == 0 && (next_ == tasks_.size() || failure_); });
  tasks_ = {};
  next_ = 0;
  if (failure_)
    std::rethrow_exception(failure_);
}

void CopyTeam::work() {
  const BlockedSignals signals;
  ContextHandle before = nullptr;
  side_.driver().enter(side_.context, &before);
  side_.vendor->keepOffCaptures();
  Worker worker(side_.driver());
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return isStopped_ || (next_ < tasks_.size() && !failure_); });
    if (isStopped_)
      return;
    ++busy_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      copySome(worker);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --busy_;
    if (failure)
      failure_ = failure;
    changed_.notify_all();
  }
}

std::vector<CopyTask> CopyTeam::takeBatch() {
  const std::lock_guard lock(mutex_);
  std::vector<CopyTask> batch;
  uint64_t room = kBufferBytes;
  while (next_ < tasks_.size() && room > 0 && batch.size() < kMaxBatch) {
    const CopyTask& task = tasks_[next_];
    const uint64_t bytes = std::min(room, task.sizeBytes - nextByte_);
    if (bytes > 0)
      batch.push_back({task.source + nextByte_, task.destination + nextByte_, bytes});
    room -= bytes;
    nextByte_ += bytes;
    if (nextByte_ == task.sizeBytes) {
      ++next_;
      nextByte_ = 0;
    }
  }
  return batch;
}

void CopyTeam::copySome(Worker& worker) {
  const Driver& driver = side_.driver();
  if (!worker.stream) {
    worker.buffer = device::gpu::PinnedBuffer(driver, kBufferBytes);
    driver.require(driver.createStream(&worker.stream), "creating a stream");
  }
  const std::vector<CopyTask> batch = takeBatch();
  std::byte* const buffer = worker.buffer.data();
  uint64_t filled = 0;
  for (const CopyTask& task : batch) {
    driver.require(driver.copyToHost(buffer + filled, task.source, task.sizeBytes, worker.stream),
                   "copying device memory to the host");
    filled += task.sizeBytes;
  }
  driver.require(driver.waitForStream(worker.stream), "copying device memory to the host");
  filled = 0;
  for (const CopyTask& task : batch) {
    std::memcpy(task.destination, buffer + filled, task.sizeBytes);
    filled += task.sizeBytes;
  }
}

} // namespace mneme::record::gpu
