// Room devices/cuda: one loaded image with one kernel.
#pragma once

#include "runtime/core/embed/device_code.h"
#include "runtime/devices/cuda/cuda_context.h"
#include "runtime/devices/gpu/loaded_kernel.h"

namespace mneme::device::cuda {

/// Not thread-safe. Unloads the image on destruction, unless a kernel hangs.
class CudaModule final : public gpu::LoadedKernel {
public:
  /// `image` is a cubin, PTX text or a fat binary. \throws Error{CompileFailed} with the driver's
  /// text, Error{NotFound} if it has no such kernel
  CudaModule(Context& context, const Description& device, std::span<const std::byte> image,
             const std::string& kernel);
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() override;

  CUfunction function() const noexcept { return function_; }
  int functionAttribute(CUfunction_attribute attribute) const;

private:
  void load(std::span<const std::byte> image);
  /// Returns the sizes that the driver reports; none if it reports none.
  std::optional<std::vector<uint64_t>> askArgumentSizes() const;
  void readAttributes();
  void readGlobals(const std::vector<embed::DeviceVariable>& variables);

  Context& context_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

} // namespace mneme::device::cuda
