// Room jit: a tuned kernel on one GPU. It shares the program's device variables:
//
// - Variables in device memory are not in the image. The image has a constant place for the address
//   of each (abi/variable_names.h), which is filled in when the image is loaded.
// - Variables in constant memory are in the image (constants.h).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/jit/backends/cuda/constants.h"
#include "runtime/jit/backends/cuda/cuda_context.h"
#include "runtime/jit/jit_backend.h"

namespace mneme::jit {

/// A device variable of the kernel, and how the program identifies it.
struct CudaVariable {
  std::string name;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
  bool areWritesTold = false;   ///< MNEME_GLOBAL_WRITES_TOLD
  const void* shadow = nullptr; ///< host shadow; null: this unit's host code cannot name it
};

/// What a tuned kernel is loaded from, each time.
struct CudaSource {
  const device::cuda::Driver& driver;
  const device::cuda::LoadedRuntime& runtime;
  std::string kernel;
  const void* handle = nullptr;
  std::vector<char> image; ///< a zero follows: it may be PTX text
  std::vector<CudaVariable> variables;
  uint32_t sharedCarveout = 0; ///< as KernelImage
};

/// A module. The destructor unloads it if its context is still the calling thread's.
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
  CudaConstants& constants() noexcept { return constants_; }
  int maxDynamicSharedBytes() const noexcept { return maxDynamicSharedBytes_; }
  /// The limit that the program's own kernel promised, or that its registers allow. 0: unknown.
  uint64_t maxThreadsPerBlock() const noexcept { return maxThreadsPerBlock_; }
  /// Reads again how the program wants its kernel launched, because cudaFuncSetAttribute() may have
  /// been called since. Returns whether anything changed.
  bool refreshWishes() noexcept;

private:
  void bind(const CudaVariable& variable, device::cuda::CUmodule theirs);
  void applyWishes(const device::cuda::LaunchWishes& wishes) noexcept;
  void set(int attribute, int value) noexcept;

  const CudaSource& source_;
  CudaModuleHandle module_;
  device::cuda::CUfunction function_ = nullptr;
  CudaConstants constants_;
  std::atomic<int> maxDynamicSharedBytes_{0};
  uint64_t maxThreadsPerBlock_ = 0;
  std::mutex wishesLock_;
  device::cuda::LaunchWishes wishes_;
};

class CudaKernel final : public LoadedKernel {
public:
  /// Loads in the current context. \throws Error
  CudaKernel(CudaSource source, const CudaContext& context);

  /// Returns the kernel in a context of its device. Loads it again if the context has changed, as
  /// after a device reset. Returns null if it cannot be loaded there.
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
