// Room devices/profile: the part of rocprofiler-sdk's vocabulary we use, under its own names
// without the prefix. Declared here because mneme builds without ROCm. Numbers and layouts are
// those of rocprofiler-sdk 0.4, 0.5 and 0.6 (ROCm 6.2, 6.3 and 6.4) and of 1.0 and 1.2 (ROCm 7):
// tests/unit/profile holds them to facts that scripts/rocprofiler_facts.py read from the headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::profile::rocprofiler {

inline constexpr int kSuccess = 0;
inline constexpr int kCallbackCodeObject = 10; ///< ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT
inline constexpr int kBufferDispatch = 11;     ///< ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH
inline constexpr int kCategoryTracing = 1;     ///< ROCPROFILER_BUFFER_CATEGORY_TRACING
inline constexpr int kLossless = 2;            ///< ROCPROFILER_BUFFER_POLICY_LOSSLESS
inline constexpr uint32_t kKernelSymbol = 2;   ///< ..._CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER
inline constexpr uint32_t kPhaseLoad = 1;      ///< ROCPROFILER_CALLBACK_PHASE_LOAD
inline constexpr uint32_t kPhaseUnload = 2;    ///< ROCPROFILER_CALLBACK_PHASE_UNLOAD

struct Handle {
  uint64_t value = 0;
};

struct Dim3 {
  uint32_t x, y, z;
};

struct RecordHeader {
  uint32_t category;
  uint32_t kind;
  void* payload;
};

/// rocprofiler_buffer_tracing_kernel_dispatch_record_t with its dispatch_info. Grids are counted in
/// threads, as in the packet that starts a kernel.
struct DispatchRecord {
  uint64_t sizeBytes;
  int32_t kind, operation;
  uint64_t correlation[2];
  uint64_t thread;
  uint64_t startNs, endNs;
  uint64_t infoBytes;
  Handle agent, queue;
  uint64_t kernel; ///< as in KernelSymbol
  uint64_t dispatch;
  uint32_t privateBytes, groupBytes; ///< for a thread, for a work-group (static and dynamic)
  Dim3 workgroup, grid;
  uint8_t reserved[56];
};
static_assert(sizeof(DispatchRecord) == 184);

/// Whether a record begins as declared here. Every version known is as long, too; one that puts
/// more behind is longer, and its dispatch_info still says how long it is where it does here.
/// Anything put in front would have a time stamp or an address there, which are greater than any
/// length.
inline bool isAsDeclared(const DispatchRecord& record) {
  constexpr size_t info = offsetof(DispatchRecord, infoBytes);
  if (record.sizeBytes <= sizeof(DispatchRecord))
    return record.sizeBytes == sizeof(DispatchRecord);
  return record.infoBytes >= offsetof(DispatchRecord, reserved) - info &&
         record.infoBytes <= record.sizeBytes - info;
}

/// The beginning of rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t.
struct KernelSymbol {
  uint64_t sizeBytes;
  uint64_t kernel;
  uint64_t codeObject;
  const char* name;
  uint64_t object;
  uint32_t argumentBytes, argumentAlignment;
  uint32_t groupBytes; ///< static
  uint32_t privateBytes;
};

/// rocprofiler_callback_tracing_record_t up to 0.x, and since 1.0, where identities of calls have
/// one more number.
struct CallbackRecord0 {
  Handle context;
  uint64_t thread;
  uint64_t correlation[2];
  uint32_t kind, operation, phase;
  void* payload;
};
struct CallbackRecord1 {
  Handle context;
  uint64_t thread;
  uint64_t correlation[3];
  uint32_t kind, operation, phase;
  void* payload;
};
static_assert(offsetof(CallbackRecord0, payload) == 48);
static_assert(offsetof(CallbackRecord1, payload) == 56);

/// rocprofiler_client_id_t up to 0.x and since 1.0, which is passed by value. The first number
/// distinguishes them: an address (or null), or a length.
struct Client0 {
  const char* name;
  uint32_t handle;
};
struct Client1 {
  size_t sizeBytes;
  const char* name;
  uint32_t handle;
};
/// Distinguishes lengths, which are smaller, from addresses, because the first page of memory is
/// never mapped.
inline constexpr uint64_t kLeastAddress = 4096;

inline bool hasLength(const void* client) {
  const uint64_t first = *static_cast<const uint64_t*>(client);
  return first >= sizeof(Client1) && first < kLeastAddress;
}

struct ConfigureResult {
  size_t sizeBytes;
  int (*initialize)(void* finalizeClient, void* data);
  void (*finalize)(void* data);
  void* data;
};

using Configure = ConfigureResult* (*)(uint32_t version, const char* text, uint32_t priority,
                                       void* client);
using TakeRecords = void (*)(Handle context, Handle buffer, RecordHeader** headers, size_t count,
                             void* data, uint64_t dropped);
/// The record comes by value, which is in memory for structs of this size: the longer form takes
/// either.
using TakeCallback = void (*)(CallbackRecord1 record, void* userData, void* data);

/// Functions of librocprofiler-sdk.so; structs of one number are handed over as that number.
struct Functions {
  int (*forceConfigure)(Configure configure);
  int (*createContext)(Handle* context);
  int (*createBuffer)(Handle context, size_t bytes, size_t watermark, int policy, TakeRecords take,
                      void* data, Handle* buffer);
  int (*configureBufferTracing)(Handle context, int kind, const void* operations, size_t count,
                                Handle buffer);
  int (*configureCallbackTracing)(Handle context, int kind, const void* operations, size_t count,
                                  TakeCallback take, void* data);
  int (*startContext)(Handle context);
  int (*flushBuffer)(Handle buffer);
};

} // namespace mneme::profile::rocprofiler
