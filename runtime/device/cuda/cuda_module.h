// Room device/cuda: one loaded image with one kernel.
#pragma once

#include <optional>

#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/cubin.h"
#include "runtime/device/device.h"

namespace mneme::device::cuda {

/// Not thread-safe. Unloaded on destruction, unless a kernel hangs.
class CudaModule final : public Module {
public:
  /// `image` is a cubin or PTX text. \throws Error{CompileFailed} with the driver's text,
  /// Error{NotFound} when it has no such kernel
  CudaModule(Context& context, const Description& device, std::span<const std::byte> image,
             const std::string& kernel);
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() override;

  std::vector<ModuleGlobal> globals() const override { return globals_; }
  KernelAttributes attributes() const override { return attributes_; }
  std::vector<uint64_t> argumentSizes() const override { return argumentSizes_; }

  const std::string& kernel() const noexcept { return kernel_; }
  CUfunction function() const noexcept { return function_; }
  int functionAttribute(CUfunction_attribute attribute) const;

  /// The last shape found possible, and its launch attributes: see launch.h.
  std::optional<LaunchShape> accepted;

private:
  void load(std::span<const std::byte> image);
  void readAttributes();
  void readGlobals(const std::vector<CubinVariable>& variables);

  Context& context_;
  std::string kernel_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  KernelAttributes attributes_;
  std::vector<ModuleGlobal> globals_;
  std::vector<uint64_t> argumentSizes_;
};

} // namespace mneme::device::cuda
