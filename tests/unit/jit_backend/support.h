// A program around the backend: a runtime of a few functions on the driver without a GPU.
#pragma once

#include <map>
#include <string>

#include "runtime/jit/backends/cuda/cuda_backend.h"
#include "tests/unit/device_cuda/fake_driver.h"
#include "tests/unit/device_cuda/support.h"

extern "C" {
[[gnu::visibility("default")]] int cudaLaunchKernel();
[[gnu::visibility("default")]] int cudaLaunchKernel_ptsz();
[[gnu::visibility("default")]] int cudaLaunchKernelExC();
}

namespace test {

using namespace mneme;
using namespace mneme::device::cuda;

inline const char kHandle = 0; ///< host handle of the program's kernel "k"

/// In nodes of graphs: of a kernel that the program's runtime does not know.
inline constexpr unsigned kForeignGrid = 77;

/// What the program's runtime says of its kernel and its variables.
struct Program {
  int device = 0;
  int lastError = 0;
  int maxDynamicShared = 48 << 10;
  bool hasLargeClusters = false;
  fake::Module module; ///< of the program's kernel
  std::map<const void*, CUdeviceptr> shadows;
};

Program& program();
fake::Application& application();
LoadedRuntime runtime();

/// The program as it is before its first launch, in the primary context of GPU 0.
std::unique_ptr<jit::Backend> start();

/// A launch of "k" as the program writes it.
mneme_launch plainLaunch(void* stream = nullptr);
tuned::Dims dimsOf(const mneme_launch& launch);

/// An image with variables, loaded for "k".
struct Image {
  std::string text;
  std::vector<embed::KernelGlobal> globals;
  std::vector<mneme_global_entry> entries;
  std::string kernel = "k";
  uint32_t sharedCarveout = 0;

  Image& variable(const std::string& name, size_t sizeBytes);
  std::unique_ptr<jit::LoadedKernel> load(jit::Backend& backend) const;
};

/// Launches and lets it run; what ran last.
fake::Seen run(jit::Backend& backend, jit::LoadedKernel& kernel, const mneme_launch& launch);
/// Whether it was launched.
bool tryLaunch(jit::Backend& backend, jit::LoadedKernel& kernel, const mneme_launch& launch);
void waitForGpu();

} // namespace test
