#include "runtime/recorder/backends/vendor_runtime.h"

#include <algorithm>

#include "runtime/core/base/last_error.h"
#include "runtime/devices/cuda/application.h"

namespace mneme::record {

using namespace device::cuda;

Capturing capturingBy(int result, int captureStatus) noexcept {
  constexpr int invalidValue = 1, invalidHandle = 400, contextIsDestroyed = 709;
  constexpr int firstOfCapture = 900, lastOfCapture = 910; // say that something is captured
  if (result == 0)
    return captureStatus != 0 ? Capturing::Yes : Capturing::No;
  if (result == kInitializationError)
    return Capturing::No; // nothing was ever started
  const bool isOfStream = result == invalidValue || result == invalidHandle ||
                          result == contextIsDestroyed ||
                          (result >= firstOfCapture && result <= lastOfCapture);
  return isOfStream ? Capturing::Yes : Capturing::Failed;
}

std::string nameByCuda(const void* kernel) {
  using Ask = int (*)(const char** name, const void* kernel);
  using Status = int (*)();
  const KeepsLastError keeps(find<Status>("cudaPeekAtLastError"), find<Status>("cudaGetLastError"));
  // Each refuses the handles that another one takes.
  for (const char* function : {"cudaFuncGetName", "cuFuncGetName", "cuKernelGetName"}) {
    const char* name = nullptr;
    if (const auto ask = find<Ask>(function); ask && ask(&name, kernel) == 0 && name)
      return name;
  }
  return "";
}

LaunchTraits traitsByAttributes(const mneme_launch& launch) noexcept {
  LaunchTraits traits;
  traits.isCooperative = launch.form == MNEME_LAUNCH_COOPERATIVE;
  const auto* config = static_cast<const RuntimeLaunchConfig*>(launch.config);
  for (unsigned index = 0; config && config->attributes && index < config->attributeCount;
       ++index) {
    const CUlaunchAttribute& attribute = config->attributes[index];
    const auto& cluster = attribute.value.clusterDim;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      traits.isCooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      traits.cluster = {std::max(1u, cluster.x), std::max(1u, cluster.y), std::max(1u, cluster.z)};
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
      traits.sharedCarveout = fromCarveout(static_cast<int>(attribute.value.sharedMemCarveout));
  }
  return traits;
}

} // namespace mneme::record
