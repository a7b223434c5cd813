// Room devices/hip: one loaded code object with one kernel.
#pragma once

#include <vector>

#include "runtime/devices/gpu/loaded_kernel.h"
#include "runtime/devices/hip/code_object.h"
#include "runtime/devices/hip/hip_context.h"

namespace mneme::device::hip {

/// Not thread-safe. Unloads the image on destruction, unless a kernel hangs.
class HipModule final : public gpu::LoadedKernel {
public:
  /// \throws Error{CompileFailed} with HIP's text, Error{NotFound} if it has no such kernel
  HipModule(Context& context, const Description& device, std::span<const std::byte> image,
            const std::string& kernel);
  HipModule(const HipModule&) = delete;
  HipModule& operator=(const HipModule&) = delete;
  ~HipModule() override;

  hipFunction_t function() const noexcept { return function_; }

private:
  void load();
  void readAttributes(const CodeObjectFacts& facts);
  void readGlobals(const std::vector<CodeObjectVariable>& variables);

  Context& context_;
  std::vector<std::byte> image_; ///< HIP may keep reading it
  hipModule_t module_ = nullptr;
  hipFunction_t function_ = nullptr;
};

} // namespace mneme::device::hip
