// Room devices/cuda: finds CUPTI and the functions of it that mneme uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/devices/cuda/cupti_counter_types.h"
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
  int (*activityDisable)(int kind);
  int (*activityFlushAll)(uint32_t flag);
  int (*activityGetNextRecord)(uint8_t* buffer, size_t validBytes, void** record);
};

/// Returns the functions of the first CUPTI found (toolkit, loader path, Python packages), which
/// stays open for the rest of the process. Returns null if there is none or it is not wanted, and
/// logs the reason at level info.
const CuptiFunctions* cuptiFunctions();

/// CUPTI's functions that read hardware counters.
struct CounterFunctions {
#define MNEME_CUPTI_FUNCTION(member, name, structure) int (*member)(structure * params) = nullptr;
#include "runtime/devices/cuda/cupti_counter_functions.def"
#undef MNEME_CUPTI_FUNCTION
  int (*getResultString)(int result, const char** text) = nullptr;
};

/// Returns those of the same CUPTI. \throws Error{BackendUnavailable} if there is none, if it is an
/// older one without them, or if another tool controls the process.
const CounterFunctions& counterFunctions();

} // namespace mneme::device::cuda
