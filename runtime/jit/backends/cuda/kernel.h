// Room jit: a tuned kernel on one GPU. It shares the program's device variables:
//
// - Variables in device memory are not in the image. The image has a constant place for the address
//   of each (abi/variable_names.h), which is filled in when the image is loaded.
// - Variables in constant memory are in the image, without their initial values, so that the
//   hardware's constant cache serves them. They are copied from the program's own to ours in front
//   of every launch, on the launch's stream. That is enough: a change the program orders before its
//   launch is ordered before our copy, which stands at the launch's place in the stream (and in the
//   graph that is being captured); a change ordered after the launch is ordered after our copy,
//   which the launch waits for. A change ordered neither way races with the kernel in the program
//   as written. Launches of this kernel on several streams at once copy the same bytes over each
//   other: if the bytes differed, the program would have changed a variable under a running kernel.
//   (Constants no program can change, such as tables of the compiler's, are not among them.)
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/jit/backend.h"
#include "runtime/jit/backends/cuda/context.h"

namespace mneme::jit {

/// A device variable of the kernel, with what the program knows it by.
struct CudaVariable {
  std::string name;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
  const void* shadow = nullptr; ///< host shadow; null: this unit's host code cannot name it
};

/// What a tuned kernel is made from, for every time it is loaded.
struct CudaSource {
  const device::cuda::Driver& driver;
  const device::cuda::LoadedRuntime& runtime;
  std::string kernel;
  const void* handle = nullptr;
  std::vector<char> image; ///< a zero follows: it may be PTX text
  std::vector<CudaVariable> variables;
};

/// A module, unloaded with this object if its context still is the calling thread's.
class CudaModuleHandle {
public:
  CudaModuleHandle(const CudaSource& source, const CudaContext& context);
  CudaModuleHandle(const CudaModuleHandle&) = delete;
  CudaModuleHandle& operator=(const CudaModuleHandle&) = delete;
  ~CudaModuleHandle();
  device::cuda::CUmodule raw() const noexcept { return module_; }

private:
  const CudaSource& source_;
  uint64_t contextId_;
  device::cuda::CUmodule module_ = nullptr;
};

/// The kernel in one context. Thread-safe.
class CudaPlacement {
public:
  /// The context must be current; streams may be captured. \throws Error
  CudaPlacement(const CudaSource& source, const CudaContext& context);

  device::cuda::CUfunction function() const noexcept { return function_; }
  /// Brings the constants up to date, in front of a launch on this stream. False if that failed.
  bool copyConstants(device::cuda::CUstream stream) const noexcept;
  bool hasConstants() const noexcept { return !constants_.empty(); }
  int maxDynamicSharedBytes() const noexcept { return maxDynamicSharedBytes_; }
  /// What the program's own kernel promised, or has registers for. 0: unknown.
  uint64_t maxThreadsPerBlock() const noexcept { return maxThreadsPerBlock_; }
  /// Asks again how the program wants its kernel launched: cudaFuncSetAttribute() may have been
  /// called since. Whether that changed anything.
  bool refreshWishes() noexcept;

private:
  struct Constant {
    device::cuda::CUdeviceptr ours = 0, theirs = 0;
    size_t sizeBytes = 0;
  };
  void bind(const CudaVariable& variable, device::cuda::CUmodule theirs);
  void applyWishes(const device::cuda::LaunchWishes& wishes) noexcept;
  void set(int attribute, int value) noexcept;

  const CudaSource& source_;
  CudaModuleHandle module_;
  device::cuda::CUfunction function_ = nullptr;
  std::vector<Constant> constants_;
  std::atomic<int> maxDynamicSharedBytes_{0};
  uint64_t maxThreadsPerBlock_ = 0;
  std::mutex wishesLock_;
  device::cuda::LaunchWishes wishes_;
};

class CudaKernel final : public LoadedKernel {
public:
  /// Loads in the current context. \throws Error
  CudaKernel(CudaSource source, const CudaContext& context);

  /// The kernel in a context of the device it was loaded for, loaded again if that is another than
  /// the last time (after a device reset). Null if it cannot be loaded there.
  CudaPlacement* placementIn(const CudaContext& context) noexcept;

private:
  struct Life {
    uint64_t contextId = 0;
    std::unique_ptr<CudaPlacement> placement; ///< null: this context has no tuned kernel
  };
  const Life* begin(const CudaContext& context) noexcept;

  CudaSource source_;
  device::cuda::CUdevice device_;
  std::atomic<const Life*> current_{nullptr};
  std::mutex livesLock_;
  std::vector<std::unique_ptr<Life>> lives_;
};

} // namespace mneme::jit
