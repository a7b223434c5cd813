#include "runtime/record/backends/cuda/copy_team.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "runtime/base/blocked_signals.h"
#include "runtime/base/error.h"
#include "runtime/base/unique_handle.h"

namespace mneme::record {

using namespace device::cuda;

namespace {

constexpr uint64_t kBufferBytes = 8 << 20;
constexpr size_t kMaxBatch = 256;

struct PinnedTraits {
  using Raw = void*;
  static Raw none() noexcept { return nullptr; }
  static void release(Raw raw) noexcept { Driver::find()->cuMemFreeHost(raw); }
};

struct StreamTraits {
  using Raw = CUstream;
  static Raw none() noexcept { return nullptr; }
  static void release(Raw raw) noexcept { Driver::find()->cuStreamDestroy(raw); }
};

} // namespace

struct CopyTeam::Worker {
  UniqueHandle<PinnedTraits> buffer;
  UniqueHandle<StreamTraits> stream;
};

CopyTeam::CopyTeam(const Driver& driver, CUcontext context, unsigned threads)
    : driver_(driver), context_(context), threadCount_(std::max(1u, threads)) {}

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
  driver_.cuCtxPushCurrent(context_);
  // A capture of the application's into a graph must not be spoilt by what this thread does.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver_.cuThreadExchangeStreamCaptureMode(&mode);
  Worker worker;
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
  if (!worker.buffer) {
    void* buffer = nullptr;
    check(driver_.cuMemHostAlloc(&buffer, kBufferBytes, CU_MEMHOSTALLOC_PORTABLE),
          "allocating a pinned buffer");
    worker.buffer = UniqueHandle<PinnedTraits>(buffer);
    CUstream stream = nullptr;
    check(driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "creating a stream");
    worker.stream = UniqueHandle<StreamTraits>(stream);
  }
  const std::vector<CopyTask> batch = takeBatch();
  auto* const buffer = static_cast<std::byte*>(worker.buffer.get());
  uint64_t filled = 0;
  for (const CopyTask& task : batch) {
    check(driver_.cuMemcpyDtoHAsync(buffer + filled, task.source, task.sizeBytes,
                                    worker.stream.get()),
          "copying device memory to the host");
    filled += task.sizeBytes;
  }
  check(driver_.cuStreamSynchronize(worker.stream.get()), "copying device memory to the host");
  filled = 0;
  for (const CopyTask& task : batch) {
    std::memcpy(task.destination, buffer + filled, task.sizeBytes);
    filled += task.sizeBytes;
  }
}

} // namespace mneme::record
