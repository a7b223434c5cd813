// Which backend records the program at hand (record_backend.h): the one for the runtime it has.
#include "runtime/core/base/error.h"
#include "runtime/recorder/backends/cpu/cpu_backend.h"
#include "runtime/recorder/backends/cuda/cuda_backend.h"
#include "runtime/recorder/backends/hip/hip_backend.h"

namespace mneme::record {

const char* const kSharedRuntimeHint = "-lcudart, CUDA::cudart";

namespace {

/// The backend of a process without a shared vendor runtime.
class NoBackend final : public Backend {
public:
  std::string whyNot() const override {
    return "no shared vendor runtime is loaded in this process";
  }
  std::string deviceName(int) const override { return ""; }
  std::span<const char* const> runtimeFiles() const noexcept override { return {}; }
  int currentDevice() noexcept override { return 0; }
  int synchronize() noexcept override { return 0; }
  std::unique_ptr<DeviceAccess> makeAccess(unsigned) override {
    throw Error(ErrorCode::BackendUnavailable, whyNot());
  }
  void prepareKernel(const KernelPlace&) noexcept override {}
};

} // namespace

Backend& findBackend() noexcept {
  static Backend* backend = [] {
    std::unique_ptr<Backend> found = makeCpuBackend();
    if (!found)
      found = makeCudaBackend();
    if (!found)
      found = makeHipBackend();
    if (!found)
      found = makeCudaDriverBackend();
    return found ? found.release() : new NoBackend;
  }();
  return *backend;
}

} // namespace mneme::record
