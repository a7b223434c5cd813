// Room device/cuda: where CUPTI is and which of its functions we use.
#pragma once

#include "runtime/device/cuda/cupti.h"

namespace mneme::device::cuda {

struct Cupti::Functions {
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

/// The functions of the first CUPTI found (toolkit, loader path, Python packages), opened for the
/// rest of the process. Null where there is none or it is not wanted; says why on level info.
const Cupti::Functions* cuptiFunctions();

} // namespace mneme::device::cuda
