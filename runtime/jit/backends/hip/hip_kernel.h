// Room jit: a tuned kernel on one AMD GPU. It shares the program's device variables, constant ones
// as well. The code object has none of them, only a place for the address of each
// (abi/variable_names.h), which is filled in after loading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/devices/hip/hip_driver.h"
#include "runtime/jit/jit_backend.h"

namespace mneme::jit {

class HipKernel final : public LoadedKernel {
public:
  /// Loads on the current device; streams may be captured. \throws Error
  HipKernel(const device::hip::Driver& driver, const KernelImage& image);
  ~HipKernel() override;
  HipKernel(const HipKernel&) = delete;
  HipKernel& operator=(const HipKernel&) = delete;

  device::hip::hipFunction_t function() const noexcept { return function_; }
  int device() const noexcept { return device_; }
  /// The limit that the program's own kernel promised, or that its registers allow. 0: unknown.
  uint64_t maxThreadsPerBlock() const noexcept { return maxThreadsPerBlock_; }

private:
  void bind(const embed::KernelGlobal& global, const mneme_module_entry* module) const;

  const device::hip::Driver& driver_;
  std::string kernel_;
  std::vector<std::byte> image_; ///< HIP may read it as long as the module is loaded
  int device_ = -1;
  device::hip::hipModule_t module_ = nullptr;
  device::hip::hipFunction_t function_ = nullptr;
  uint64_t maxThreadsPerBlock_ = 0;
};

} // namespace mneme::jit
