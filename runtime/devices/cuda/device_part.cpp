#include "runtime/devices/cuda/device_part.h"

namespace mneme::device::cuda {

namespace {

/// Multiprocessors of a part can work in clusters by default. Smaller steps are possible without
/// that, and a program may have taken them.
constexpr unsigned kSplits[] = {0, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING};

bool hasParts(const Driver& driver) {
  return driver.cuDeviceGetDevResource && driver.cuDevSmResourceSplitByCount &&
         driver.cuDevResourceGenerateDesc && driver.cuGreenCtxCreate && driver.cuGreenCtxDestroy &&
         driver.cuGreenCtxStreamCreate;
}

/// The smallest set of at least so many, where one can be had.
std::optional<CUdevResource> split(const Driver& driver, const CUdevResource& all,
                                   uint32_t multiprocessors) {
  std::optional<CUdevResource> best;
  for (const unsigned flags : kSplits) {
    CUdevResource part{}, rest{};
    unsigned count = 1;
    if (driver.cuDevSmResourceSplitByCount(&part, &count, &all, &rest, flags, multiprocessors) ==
            CUDA_SUCCESS &&
        count == 1 && part.smCount >= multiprocessors && part.smCount < all.smCount &&
        (!best || part.smCount < best->smCount))
      best = part;
  }
  return best;
}

} // namespace

std::optional<DevicePart> makePart(const Driver& driver, CUdevice device,
                                   uint32_t multiprocessors) {
  CUdevResource all{};
  if (!hasParts(driver) ||
      driver.cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
      multiprocessors >= all.smCount)
    return std::nullopt;
  std::optional<CUdevResource> chosen = split(driver, all, multiprocessors);
  CUdevResourceDesc description = nullptr;
  DevicePart part;
  if (!chosen || driver.cuDevResourceGenerateDesc(&description, &*chosen, 1) != CUDA_SUCCESS ||
      driver.cuGreenCtxCreate(&part.context, description, device, CU_GREEN_CTX_DEFAULT_STREAM) !=
          CUDA_SUCCESS)
    return std::nullopt;
  if (driver.cuGreenCtxStreamCreate(&part.stream, part.context, CU_STREAM_NON_BLOCKING, 0) !=
      CUDA_SUCCESS) {
    driver.cuGreenCtxDestroy(part.context);
    return std::nullopt;
  }
  part.multiprocessors = chosen->smCount;
  return part;
}

void destroyPart(const Driver& driver, const DevicePart& part) noexcept {
  driver.cuStreamDestroy(part.stream);
  driver.cuGreenCtxDestroy(part.context);
}

} // namespace mneme::device::cuda
