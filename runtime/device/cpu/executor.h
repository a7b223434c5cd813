// Room device/cpu: runs CPU images (image_abi.h). Used by the CPU Device and by the CUDA runtime on
// the CPU device (cpu_runtime). No LLVM; depends on base.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/cpu_image.h"
#include "runtime/device/device.h"

namespace mneme::device::cpu {

/// What ended a launch early.
enum class FaultKind {
  None,
  IllegalAddress,
  Trap,
  Assert,
  Timeout,
  StackOverflow,
  Arithmetic,
  Deadlock,
  OutOfMemory
};

struct LaunchOutcome {
  FaultKind fault = FaultKind::None;
  std::string message; ///< names kernel, block, thread and address where known
  uint64_t faultAddress = 0;
  uint64_t elapsedNs = 0; ///< first block start to last block end
};

/// A loaded image. Thread-safe for concurrent launches.
class Image {
public:
  /// Loads from memory (memfd + dlopen). \throws Error{CompileFailed} if it is not our image.
  static std::unique_ptr<Image> load(std::span<const std::byte> elf);
  virtual ~Image() = default;
  virtual const mneme_cpu_image_header& header() const noexcept = 0;
  /// Binds global number `index` to storage at `address`; initialise() then writes initial values
  /// into every bound global for which `isFresh[index]` and applies relocations there.
  virtual void bindGlobal(size_t index, void* address) = 0;
  virtual void initialiseGlobals(const std::vector<bool>& isFresh) = 0;
};

/// Runs one launch on all cores of this process's affinity mask and returns when it is complete.
/// Blocks start in linear order; a cooperative launch has all blocks resident and making progress.
/// Safe from several host threads (launches are serialised). Never throws across kernels: faults
/// (SIGSEGV, SIGBUS, SIGFPE, SIGILL inside device code) are caught and reported, the signal
/// handlers of the host program are called for everything else. `timeoutSeconds` 0 means none; on
/// timeout the launch is abandoned at the next safe point. `waiting`, if not null, counts threads
/// that wait for this launch: it may run beside others, and only while somebody waits it may be
/// found to wait for ever itself.
LaunchOutcome run(Image& image, const LaunchShape& shape, void* const* args, double timeoutSeconds,
                  const std::atomic<int>* waiting = nullptr);

/// Number of worker threads (MNEME_CPU_THREADS, else the affinity mask).
uint32_t workerCount() noexcept;

/// Device printf goes to stdout of the process in launch order, as CUDA's does at synchronisation.
} // namespace mneme::device::cpu
