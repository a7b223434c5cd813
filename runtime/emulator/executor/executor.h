// Room emulator/executor: runs CPU images (runtime/core/abi/cpu_image.h): shared objects made of
// GPU kernels. Used by the CPU device and by the vendors' runtimes on it
// (runtime/emulator/runtimes). Needs no LLVM.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/devices/device.h"

namespace mneme::device::cpu {

/// Why a launch ended early.
enum class FaultKind {
  None,           ///< it did not: all blocks ran to their end
  IllegalAddress, ///< SIGSEGV or SIGBUS in device code
  Trap,           ///< the kernel executed a trap
  Assert,         ///< a device assertion failed
  Timeout,        ///< `timeoutSeconds` of run() have passed
  StackOverflow,  ///< a thread used up its stack
  Arithmetic,     ///< SIGFPE in device code, such as a division by zero
  Deadlock,       ///< all resident blocks wait for something that cannot happen
  OutOfMemory     ///< the host has no memory for stacks or blocks
};

struct LaunchOutcome {
  FaultKind fault = FaultKind::None;
  std::string message; ///< names kernel, block, thread and address where known
  uint64_t faultAddress = 0;
  uint64_t elapsedNs = 0; ///< from the start of the first block to the end of the last
};

/// A loaded image. Several threads may launch it at the same time.
class Image {
public:
  /// Loads an image from memory (memfd + dlopen). \throws Error{CompileFailed} if the bytes are not
  /// a CPU image of mneme.
  static std::unique_ptr<Image> load(std::span<const std::byte> elf);
  virtual ~Image() = default;
  virtual const mneme_cpu_image_header& header() const noexcept = 0;
  /// Tells the image where the device variable number `index` lies. Call it for every variable,
  /// then initialiseGlobals().
  virtual void bindGlobal(size_t index, void* address) = 0;
  /// Writes initial values, and the addresses in them, into every bound variable whose `isFresh` is
  /// set. The others keep their content.
  virtual void initialiseGlobals(const std::vector<bool>& isFresh) = 0;
};

/// Runs one launch on the worker threads and returns when it is complete.
///
/// Blocks start in linear order. In a cooperative launch all blocks are resident and make progress.
/// Device printf goes to the process's stdout in launch order, as CUDA's does at synchronisation.
///
/// Signals that device code raises (SIGSEGV, SIGBUS, SIGFPE, SIGILL) become the outcome; for all
/// other signals the host program's handlers are called. No exception passes through a kernel.
///
/// Any host thread may call this. \param timeoutSeconds  0: no limit. A launch that exceeds it is
/// abandoned at the next point where that is safe. \param waiting  null: launches are serialised,
/// and the caller waits for this one. Otherwise the launch may run beside others, `*waiting` is the
/// number of threads that wait for it, and a deadlock is reported only while there are any.
LaunchOutcome run(Image& image, const LaunchShape& shape, void* const* args, double timeoutSeconds,
                  const std::atomic<int>* waiting = nullptr);

/// Number of worker threads: MNEME_CPU_THREADS, else the cores of the process's affinity mask.
uint32_t workerCount() noexcept;

} // namespace mneme::device::cpu
