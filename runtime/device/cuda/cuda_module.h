// Room device/cuda: one loaded image with one kernel.
#pragma once

#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/cubin.h"
#include "runtime/device/gpu/loaded_kernel.h"

namespace mneme::device::cuda {

/// Not thread-safe. Unloaded on destruction, unless a kernel hangs.
class CudaModule final : public gpu::LoadedKernel {
public:
  /// `image` is a cubin or PTX text. \throws Error{CompileFailed} with the driver's text,
  /// Error{NotFound} when it has no such kernel
  CudaModule(Context& context, const Description& device, std::span<const std::byte> image,
             const std::string& kernel);
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() override;

  CUfunction function() const noexcept { return function_; }
  int functionAttribute(CUfunction_attribute attribute) const;

private:
  void load(std::span<const std::byte> image);
  /// What the driver says of them; nothing if that is nothing.
  std::optional<std::vector<uint64_t>> askArgumentSizes() const;
  void readAttributes();
  void readGlobals(const std::vector<CubinVariable>& variables);

  Context& context_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

} // namespace mneme::device::cuda
