// Room devices/cuda: finds CUPTI and the functions of it that mneme uses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/devices/cuda/driver_types.h"

namespace mneme::device::cuda {

struct CuptiFunctions {
  using GiveBuffer = void (*)(uint8_t** buffer, size_t* sizeBytes, size_t* maxRecords);
  using TakeBuffer = void (*)(CUcontext context, uint32_t stream, uint8_t* buffer, size_t sizeBytes,
                              size_t validBytes);
  int (*getVersion)(uint32_t* version);
  int (*getResultString)(int result, const char** text);
  int (*activityRegisterCallbacks)(GiveBuffer give, TakeBuffer take);
  int (*activityEnable)(int kind);
  int (*activityFlushAll)(uint32_t flag);
  int (*activityGetNextRecord)(uint8_t* buffer, size_t validBytes, void** record);
};

/// Returns the functions of the first CUPTI found (toolkit, loader path, Python packages), which
/// stays open for the rest of the process. Returns null if there is none or it is not wanted, and
/// logs the reason at level info.
const CuptiFunctions* cuptiFunctions();

} // namespace mneme::device::cuda
