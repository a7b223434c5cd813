// Room jit: variables in constant memory that a tuned kernel shares with the program.
//
// The image has the variables, without initial values, so that the hardware's constant cache serves
// them. Before each launch they are copied from the program's variables to ours, on the launch's
// stream. This is sufficient: a change that the program orders before its launch is ordered before
// our copy, which has the launch's place in the stream (and in a graph under capture). A change
// ordered after the launch is ordered after our copy, because the launch waits for the copy. A
// change ordered neither way races with the kernel in the original program, too. Concurrent
// launches of this kernel on several streams copy the same bytes over each other: if the bytes
// differed, the program would have changed a variable while a kernel used it. (Constants that no
// program can change, such as the compiler's tables, need no copies.)
//
// A copy costs about a microsecond, as much as a small kernel. Launches need no copy once a copy is
// complete that began after the last change (MNEME_GLOBAL_WRITES_TOLD). A change is complete when
// the program's call returns, except for the transfer of at most 64 KiB that the runtime has
// buffered (CUDA Runtime API, "API synchronization behavior"); kTransfer leaves ample time for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::jit {

/// The constants of one kernel in one context. Thread-safe, except for add().
class CudaConstants {
public:
  explicit CudaConstants(const device::cuda::Driver& driver) : driver_(driver) {}
  CudaConstants(const CudaConstants&) = delete;
  CudaConstants& operator=(const CudaConstants&) = delete;

  struct Constant {
    device::cuda::CUdeviceptr ours = 0, theirs = 0;
    size_t sizeBytes = 0;
    bool areWritesTold = false;
  };
  void add(const Constant& constant);
  bool empty() const noexcept { return constants_.empty(); }

  /// Call it before a launch on this stream. Returns false on failure.
  bool bringUpToDate(device::cuda::CUstream stream) noexcept;

  static constexpr std::chrono::milliseconds kTransfer{50};

private:
  using Clock = std::chrono::steady_clock;
  /// What to do for a launch after the lock is released.
  enum class Next { Copy, CopyAndNote, Nothing };

  Next next(uint64_t writes) noexcept;
  bool copy(device::cuda::CUstream stream) const noexcept;
  void note(uint64_t writes, device::cuda::CUstream stream) noexcept;

  static constexpr uint64_t kNever = UINT64_MAX;

  const device::cuda::Driver& driver_;
  std::vector<Constant> constants_;
  bool areWritesTold_ = true; ///< for all constants
  std::atomic<uint64_t> upToDate_{
      kNever}; ///< number of writes after which all streams are up to date
  std::mutex lock_;
  uint64_t seen_ = kNever; ///< number of writes at the last launch
  Clock::time_point since_;
  device::cuda::CUevent copied_ = nullptr; ///< follows a copy; destroyed with its context
  bool isNoted_ = false; ///< whether that copy began after `seen_` writes were complete
};

} // namespace mneme::jit
