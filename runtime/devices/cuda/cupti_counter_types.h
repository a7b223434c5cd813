// Room devices/cuda: what CUPTI's functions for hardware counters take (CUPTI's documentation,
// Range Profiling and Profiling Host API of CUDA 12.6 and newer).
//
// `size` tells CUPTI which members the caller knows: those up to the one that kUsed ends with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/devices/cuda/driver_types.h"

namespace mneme::device::cuda {

struct CounterHost;   ///< CUPTI's: what is counted, and how it is evaluated
struct RangeProfiler; ///< CUPTI's: counters of one context

constexpr int kRangeProfilerType = 0;
constexpr int kUserRange = 2;
constexpr int kUserReplay = 3;

struct InitializeParams {
  static constexpr size_t kUsed = 16;
  size_t size = kUsed;
  void* reserved = nullptr;
};

struct ChipNameParams {
  static constexpr size_t kUsed = 32;
  size_t size = kUsed;
  void* reserved = nullptr;
  size_t device = 0;
  const char* name = nullptr; ///< out
};

struct AvailabilityParams {
  static constexpr size_t kUsed = 40;
  size_t size = kUsed;
  void* reserved = nullptr;
  CUcontext context = nullptr;
  size_t bytes = 0; ///< in, out
  uint8_t* image = nullptr;
};

struct HostInitializeParams {
  static constexpr size_t kUsed = 48;
  size_t size = kUsed;
  void* reserved = nullptr;
  int type = kRangeProfilerType;
  const char* chip = nullptr;
  const uint8_t* availability = nullptr;
  CounterHost* host = nullptr; ///< out
};

struct HostDeinitializeParams {
  static constexpr size_t kUsed = 24;
  size_t size = kUsed;
  void* reserved = nullptr;
  CounterHost* host = nullptr;
};

struct AddMetricsParams {
  static constexpr size_t kUsed = 40;
  size_t size = kUsed;
  void* reserved = nullptr;
  CounterHost* host = nullptr;
  const char** names = nullptr;
  size_t count = 0;
};

struct ConfigSizeParams {
  static constexpr size_t kUsed = 32;
  size_t size = kUsed;
  void* reserved = nullptr;
  CounterHost* host = nullptr;
  size_t bytes = 0; ///< out
};

struct ConfigParams {
  static constexpr size_t kUsed = 40;
  size_t size = kUsed;
  void* reserved = nullptr;
  CounterHost* host = nullptr;
  size_t bytes = 0;
  uint8_t* image = nullptr;
};

struct PassCountParams {
  static constexpr size_t kUsed = 40;
  size_t size = kUsed;
  void* reserved = nullptr;
  size_t bytes = 0;
  uint8_t* image = nullptr;
  size_t count = 0; ///< out
};

struct EvaluateParams {
  static constexpr size_t kUsed = 72;
  size_t size = kUsed;
  void* reserved = nullptr;
  CounterHost* host = nullptr;
  const uint8_t* data = nullptr;
  size_t dataBytes = 0;
  size_t range = 0;
  const char** names = nullptr;
  size_t count = 0;
  double* values = nullptr;
};

struct EnableParams {
  static constexpr size_t kUsed = 32;
  size_t size = kUsed;
  void* reserved = nullptr;
  CUcontext context = nullptr;
  RangeProfiler* profiler = nullptr; ///< out
};

/// For functions that take nothing else.
struct RangeParams {
  static constexpr size_t kUsed = 24;
  size_t size = kUsed;
  void* reserved = nullptr;
  RangeProfiler* profiler = nullptr;
};

struct DataSizeParams {
  static constexpr size_t kUsed = 64;
  size_t size = kUsed;
  void* reserved = nullptr;
  RangeProfiler* profiler = nullptr;
  const char** names = nullptr;
  size_t count = 0;
  size_t ranges = 1;
  uint32_t nodes = 1;
  size_t bytes = 0; ///< out
};

struct PrepareDataParams {
  static constexpr size_t kUsed = 40;
  size_t size = kUsed;
  void* reserved = nullptr;
  RangeProfiler* profiler = nullptr;
  size_t bytes = 0;
  uint8_t* data = nullptr;
};

struct SetConfigParams {
  static constexpr size_t kUsed = 90;
  size_t size = kUsed;
  void* reserved = nullptr;
  RangeProfiler* profiler = nullptr;
  size_t configBytes = 0;
  const uint8_t* config = nullptr;
  size_t dataBytes = 0;
  uint8_t* data = nullptr;
  int range = kUserRange;
  int replay = kUserReplay;
  size_t ranges = 1;
  uint16_t levels = 1;
  uint16_t firstLevel = 1;
  size_t pass = 0;
  uint16_t level = 1;
};

struct StopParams {
  static constexpr size_t kUsed = 41;
  size_t size = kUsed;
  void* reserved = nullptr;
  RangeProfiler* profiler = nullptr;
  size_t pass = 0;       ///< out
  size_t level = 0;      ///< out
  uint8_t isAll = false; ///< out: no further pass is needed
};

struct PushParams {
  static constexpr size_t kUsed = 32;
  size_t size = kUsed;
  void* reserved = nullptr;
  RangeProfiler* profiler = nullptr;
  const char* name = nullptr;
};

struct DecodeParams {
  static constexpr size_t kUsed = 32;
  size_t size = kUsed;
  void* reserved = nullptr;
  RangeProfiler* profiler = nullptr;
  size_t dropped = 0; ///< out
};

static_assert(offsetof(HostInitializeParams, host) == 40);
static_assert(offsetof(EvaluateParams, values) == 64);
static_assert(offsetof(DataSizeParams, bytes) == 56);
static_assert(offsetof(SetConfigParams, ranges) == 64);
static_assert(offsetof(SetConfigParams, level) == 88);
static_assert(offsetof(StopParams, isAll) == 40);

} // namespace mneme::device::cuda
