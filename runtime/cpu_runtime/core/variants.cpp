// Loading of further images of registered kernels; launch.cpp launches them.
#include "runtime/abi/cpu_variants.h"

#include <cstdio>

#include "runtime/cpu_runtime/core/exported.h"
#include "runtime/cpu_runtime/core/kernels.h"
#include "runtime/cpu_runtime/core/vendor.h"
#include "runtime/device/cpu/description.h"

using namespace mneme::cpu_runtime;

namespace {

using Handle = std::shared_ptr<Variant>;

Status load(const void* function, std::span<const std::byte> image, void** variant) {
  const auto kernel = findKernel(function);
  if (!kernel)
    return Status::InvalidDeviceFunction;
  Handle made = loadVariant(kernel, image);
  const Status status = prepare(*made);
  if (status == Status::Success)
    *variant = new Handle(std::move(made));
  return status;
}

} // namespace

MNEME_RUNTIME_API int mneme_cpu_load_variant(const void* function, const void* image,
                                             size_t imageBytes, void** variant, char* message,
                                             size_t messageBytes) {
  const auto tell = [&](const char* text) {
    if (message && messageBytes)
      std::snprintf(message, messageBytes, "%s", text);
  };
  tell("");
  try {
    const Status status =
        load(function, {static_cast<const std::byte*>(image), imageBytes}, variant);
    if (status != Status::Success)
      tell(statusSentence(static_cast<int>(status)));
    return static_cast<int>(status);
  } catch (const std::exception& failure) {
    tell(failure.what());
  } catch (...) {
    tell("unknown exception");
  }
  return static_cast<int>(Status::NoKernelImageForDevice);
}

MNEME_RUNTIME_API const char* mneme_cpu_device_name(void) {
  return mneme::device::cpu::cpuDescription().name.c_str();
}

MNEME_RUNTIME_API void mneme_cpu_free_variant(void* variant) {
  delete static_cast<Handle*>(variant);
}
