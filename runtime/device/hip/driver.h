// Room device/hip: AMD's HIP runtime, opened at run time: the library itself, past every interposed
// symbol.
#pragma once

#include <string>
#include <string_view>

#include "runtime/device/hip/driver_types.h"

namespace mneme::device::hip {

/// HIP's functions, bound from libamdhip64.so of ROCm 5.2 to 7. Members named as in HIP's
/// documentation. Those marked optional are null with older versions.
struct Driver final : gpu::Driver {
  /// Opens the library and initialises it once per process: one that is loaded already, else the
  /// file MNEME_HIP_LIBRARY names, else the first of libamdhip64.so.7, .6, .5 and none. \throws
  /// Error{BackendUnavailable} with a sentence a user can act on.
  static const Driver& get();
  /// The same without throwing; null when there is none that can be used.
  static const Driver* find() noexcept;

  /// See mappingBytes(); set when the library is opened.
  bool mapsEqualPartsOnly = false;

  hipError_t (*hipInit)(unsigned flags);
  hipError_t (*hipRuntimeGetVersion)(int* version);
  const char* (*hipGetErrorName)(hipError_t error);
  const char* (*hipGetErrorString)(hipError_t error);
  hipError_t (*hipGetLastError)();

  hipError_t (*hipGetDeviceCount)(int* count);
  hipError_t (*hipGetDevice)(int* device);
  hipError_t (*hipSetDevice)(int device);
  hipError_t (*hipDeviceGetName)(char* name, int length, int device);
  hipError_t (*hipDeviceGetAttribute)(int* value, hipDeviceAttribute_t attribute, int device);
  hipError_t (*hipDeviceTotalMem)(size_t* bytes, int device);
  hipError_t (*hipGetDeviceProperties)(void* properties, int device);
  hipError_t (*hipGetDevicePropertiesR0600)(void* properties, int device); ///< optional (6.0)

  hipError_t (*hipMemGetInfo)(size_t* free, size_t* total);
  hipError_t (*hipHostMalloc)(void** pointer, size_t sizeBytes, unsigned flags);
  hipError_t (*hipHostFree)(void* pointer);
  hipError_t (*hipMemAddressReserve)(void** address, size_t sizeBytes, size_t alignment,
                                     void* wanted, unsigned long long flags);
  hipError_t (*hipMemAddressFree)(void* address, size_t sizeBytes);
  hipError_t (*hipMemCreate)(hipMemGenericAllocationHandle_t* handle, size_t sizeBytes,
                             const hipMemAllocationProp* properties, unsigned long long flags);
  hipError_t (*hipMemRelease)(hipMemGenericAllocationHandle_t handle);
  hipError_t (*hipMemMap)(void* address, size_t sizeBytes, size_t offset,
                          hipMemGenericAllocationHandle_t handle, unsigned long long flags);
  hipError_t (*hipMemUnmap)(void* address, size_t sizeBytes);
  hipError_t (*hipMemSetAccess)(void* address, size_t sizeBytes,
                                const hipMemAccessDesc* descriptions, size_t count);
  hipError_t (*hipMemGetAccess)(unsigned long long* flags, const hipMemLocation* location,
                                void* address);
  hipError_t (*hipMemGetAllocationGranularity)(size_t* granularity,
                                               const hipMemAllocationProp* properties,
                                               hipMemAllocationGranularity_flags option);

  hipError_t (*hipMemcpyHtoDAsync)(hipDeviceptr_t destination, void* source, size_t sizeBytes,
                                   hipStream_t stream);
  hipError_t (*hipMemcpyDtoHAsync)(void* destination, hipDeviceptr_t source, size_t sizeBytes,
                                   hipStream_t stream);
  hipError_t (*hipMemcpyDtoDAsync)(hipDeviceptr_t destination, hipDeviceptr_t source,
                                   size_t sizeBytes, hipStream_t stream);
  hipError_t (*hipMemsetD8Async)(hipDeviceptr_t destination, unsigned char value, size_t count,
                                 hipStream_t stream);

  hipError_t (*hipStreamCreateWithFlags)(hipStream_t* stream, unsigned flags);
  hipError_t (*hipStreamDestroy)(hipStream_t stream);
  hipError_t (*hipStreamSynchronize)(hipStream_t stream);
  hipError_t (*hipStreamQuery)(hipStream_t stream);
  hipError_t (*hipEventCreateWithFlags)(hipEvent_t* event, unsigned flags);
  hipError_t (*hipEventDestroy)(hipEvent_t event);
  hipError_t (*hipEventRecord)(hipEvent_t event, hipStream_t stream);
  hipError_t (*hipEventQuery)(hipEvent_t event);
  hipError_t (*hipEventSynchronize)(hipEvent_t event);
  hipError_t (*hipEventElapsedTime)(float* milliseconds, hipEvent_t start, hipEvent_t end);

  hipError_t (*hipModuleLoadData)(hipModule_t* module, const void* image);
  hipError_t (*hipModuleUnload)(hipModule_t module);
  hipError_t (*hipModuleGetFunction)(hipFunction_t* function, hipModule_t module, const char* name);
  hipError_t (*hipModuleGetGlobal)(hipDeviceptr_t* address, size_t* sizeBytes, hipModule_t module,
                                   const char* name);
  hipError_t (*hipFuncGetAttribute)(int* value, hipFunction_attribute attribute,
                                    hipFunction_t function);
  hipError_t (*hipModuleLaunchKernel)(hipFunction_t function, unsigned gridX, unsigned gridY,
                                      unsigned gridZ, unsigned blockX, unsigned blockY,
                                      unsigned blockZ, unsigned sharedBytes, hipStream_t stream,
                                      void** args, void** extra);
  /// Optional (5.5).
  hipError_t (*hipModuleLaunchCooperativeKernel)(hipFunction_t function, unsigned gridX,
                                                 unsigned gridY, unsigned gridZ, unsigned blockX,
                                                 unsigned blockY, unsigned blockZ,
                                                 unsigned sharedBytes, hipStream_t stream,
                                                 void** args);
  /// Optional. A grid counted in threads, between two events that take the times of the kernel
  /// alone.
  hipError_t (*hipExtModuleLaunchKernel)(hipFunction_t function, unsigned threadsX,
                                         unsigned threadsY, unsigned threadsZ, unsigned blockX,
                                         unsigned blockY, unsigned blockZ, size_t sharedBytes,
                                         hipStream_t stream, void** args, void** extra,
                                         hipEvent_t start, hipEvent_t stop, unsigned flags);
  hipError_t (*hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)(int* blocks,
                                                                   hipFunction_t function,
                                                                   int blockSize,
                                                                   size_t dynamicSharedBytes);

  // What the shared parts call.
  std::string textOf(gpu::Status status) const override;
  bool isLost(gpu::Status status) const noexcept override;
  [[noreturn]] void raise(gpu::Status status, std::string_view what) const override;
  gpu::Status enter(gpu::ContextHandle context, gpu::ContextHandle* before) const override;
  void leave(gpu::ContextHandle before) const noexcept override;
  gpu::Status currentDevice(int* device) const override;
  gpu::Status memoryGranularity(size_t* granularity, int device) const override;
  uint64_t mappingBytes() const noexcept override;
  gpu::Status reserveAddresses(uint64_t* granted, size_t sizeBytes, uint64_t wanted) const override;
  gpu::Status freeAddresses(uint64_t address, size_t sizeBytes) const override;
  gpu::Status createMemory(gpu::MemoryHandle* memory, int device, size_t sizeBytes,
                           bool isForNetworks) const override;
  gpu::Status releaseMemory(gpu::MemoryHandle memory) const override;
  gpu::Status mapMemory(uint64_t address, size_t sizeBytes,
                        gpu::MemoryHandle memory) const override;
  gpu::Status unmapMemory(uint64_t address, size_t sizeBytes) const override;
  gpu::Status allowAccess(uint64_t address, size_t sizeBytes, int device) const override;
  gpu::Status memoryLeft(size_t* freeBytes, size_t* totalBytes) const override;
  gpu::Status pin(void** pointer, size_t sizeBytes) const override;
  gpu::Status unpin(void* pointer) const override;
  gpu::Status createStream(hipStream_t* stream) const override;
  gpu::Status destroyStream(hipStream_t stream) const override;
  gpu::Status waitForStream(hipStream_t stream) const override;
  gpu::Status queryStream(hipStream_t stream) const override;
  gpu::Status copyToDevice(uint64_t destination, const void* source, size_t sizeBytes,
                           hipStream_t stream) const override;
  gpu::Status copyToHost(void* destination, uint64_t source, size_t sizeBytes,
                         hipStream_t stream) const override;
  gpu::Status copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes,
                           hipStream_t stream) const override;
  gpu::Status fill(uint64_t address, unsigned char value, size_t sizeBytes,
                   hipStream_t stream) const override;
  gpu::Status createEvent(hipEvent_t* event, unsigned flags) const override;
  gpu::Status destroyEvent(hipEvent_t event) const override;
  gpu::Status recordEvent(hipEvent_t event, hipStream_t stream) const override;
  gpu::Status queryEvent(hipEvent_t event) const override;
  gpu::Status waitForEvent(hipEvent_t event) const override;
  gpu::Status millisecondsBetween(float* elapsed, hipEvent_t start, hipEvent_t end) const override;
  gpu::Status unloadModule(hipModule_t module) const override;
  gpu::Status functionIn(hipFunction_t* function, hipModule_t module,
                         const char* name) const override;
  gpu::Status startKernel(hipFunction_t function, uint32_t blocks, uint32_t threads,
                          hipStream_t stream, void* const* args) const override;
};

/// A device as the context of the shared parts: HIP has one for each device.
gpu::ContextHandle contextOf(int device) noexcept;

} // namespace mneme::device::hip
