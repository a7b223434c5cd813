// Room recorder: threads that copy device memory to pageable host memory at the speed of the bus.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/recorder/backends/gpu/side.h"

namespace mneme::record::gpu {

/// A contiguous piece of device memory and its destination on the host.
struct CopyTask {
  uint64_t source = 0;
  std::byte* destination = nullptr;
  uint64_t sizeBytes = 0;
};

/// Every thread has its own pinned buffer and stream: while one thread waits for the bus, another
/// empties its buffer. A single thread empties its buffer at 5 GB/s, a tenth of the speed of the
/// bus.
class CopyTeam {
public:
  /// The threads start with the first move(). The context must outlive the team.
  CopyTeam(const Side& side, unsigned threads);
  ~CopyTeam();
  CopyTeam(const CopyTeam&) = delete;
  CopyTeam& operator=(const CopyTeam&) = delete;

  /// Copies everything before it returns. Must not be called from several threads at once.
  /// \throws Error{DeviceFailed, OutOfMemory}
  void move(std::span<const CopyTask> tasks);

private:
  struct Worker;
  void start();
  void work();
  void copySome(Worker& worker);
  std::vector<CopyTask> takeBatch();

  Side side_;
  unsigned threadCount_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::span<const CopyTask> tasks_;
  size_t next_ = 0;       ///< task
  uint64_t nextByte_ = 0; ///< in it
  unsigned busy_ = 0;     ///< threads that are working
  std::exception_ptr failure_;
  bool isStopped_ = false;
};

} // namespace mneme::record::gpu
