// Room device/cuda: the CUDA driver, opened at run time. Used by the device and by the recorder,
// which both reach the driver itself here, past every interposed symbol.
#pragma once

#include <string>
#include <string_view>

#include "runtime/device/cuda/driver_types.h"

namespace mneme::device::cuda {

/// The driver's functions, bound from libcuda.so.1 under the names current headers map to (_v2).
/// Members named as in CUDA's documentation. Those marked optional are null with older drivers.
struct Driver final : gpu::Driver {
  /// Opens the library and initialises the driver once per process.
  /// \throws Error{BackendUnavailable} with a sentence a user can act on.
  static const Driver& get();
  /// The same without throwing; null when there is no usable driver.
  static const Driver* find() noexcept;

  CUresult (*cuInit)(unsigned flags);
  CUresult (*cuDriverGetVersion)(int* version);
  CUresult (*cuGetErrorName)(CUresult error, const char** text);
  CUresult (*cuGetErrorString)(CUresult error, const char** text);

  CUresult (*cuDeviceGet)(CUdevice* device, int ordinal);
  CUresult (*cuDeviceGetCount)(int* count);
  CUresult (*cuDeviceGetName)(char* name, int length, CUdevice device);
  CUresult (*cuDeviceGetAttribute)(int* value, CUdevice_attribute attribute, CUdevice device);
  CUresult (*cuDeviceTotalMem)(size_t* bytes, CUdevice device);
  CUresult (*cuDeviceCanAccessPeer)(int* canAccess, CUdevice device, CUdevice peer);

  CUresult (*cuDevicePrimaryCtxRetain)(CUcontext* context, CUdevice device);
  CUresult (*cuDevicePrimaryCtxRelease)(CUdevice device);
  CUresult (*cuDevicePrimaryCtxGetState)(CUdevice device, unsigned* flags, int* isActive);
  CUresult (*cuCtxPushCurrent)(CUcontext context);
  CUresult (*cuCtxPopCurrent)(CUcontext* context);
  CUresult (*cuCtxGetCurrent)(CUcontext* context);
  CUresult (*cuCtxGetDevice)(CUdevice* device);
  /// Optional (12.0): no two contexts of a process ever have the same.
  CUresult (*cuCtxGetId)(CUcontext context, unsigned long long* id);
  CUresult (*cuCtxSynchronize)();
  CUresult (*cuCtxSetLimit)(CUlimit limit, size_t value);
  CUresult (*cuCtxGetLimit)(size_t* value, CUlimit limit);
  CUresult (*cuCtxEnablePeerAccess)(CUcontext peer, unsigned flags);

  CUresult (*cuMemGetInfo)(size_t* free, size_t* total);
  CUresult (*cuMemAlloc)(CUdeviceptr* address, size_t sizeBytes);
  CUresult (*cuMemFree)(CUdeviceptr address);
  CUresult (*cuMemGetAddressRange)(CUdeviceptr* base, size_t* sizeBytes, CUdeviceptr address);
  CUresult (*cuPointerGetAttribute)(void* data, CUpointer_attribute attribute, CUdeviceptr address);
  CUresult (*cuPointerGetAttributes)(unsigned count, CUpointer_attribute* attributes, void** data,
                                     CUdeviceptr address);
  CUresult (*cuMemHostAlloc)(void** pointer, size_t sizeBytes, unsigned flags);
  CUresult (*cuMemFreeHost)(void* pointer);
  CUresult (*cuMemHostRegister)(void* pointer, size_t sizeBytes, unsigned flags);
  CUresult (*cuMemHostUnregister)(void* pointer);
  CUresult (*cuMemHostGetDevicePointer)(CUdeviceptr* address, void* pointer, unsigned flags);

  CUresult (*cuMemAddressReserve)(CUdeviceptr* address, size_t sizeBytes, size_t alignment,
                                  CUdeviceptr wanted, unsigned long long flags);
  CUresult (*cuMemAddressFree)(CUdeviceptr address, size_t sizeBytes);
  CUresult (*cuMemCreate)(CUmemGenericAllocationHandle* handle, size_t sizeBytes,
                          const CUmemAllocationProp* properties, unsigned long long flags);
  CUresult (*cuMemRelease)(CUmemGenericAllocationHandle handle);
  CUresult (*cuMemMap)(CUdeviceptr address, size_t sizeBytes, size_t offset,
                       CUmemGenericAllocationHandle handle, unsigned long long flags);
  CUresult (*cuMemUnmap)(CUdeviceptr address, size_t sizeBytes);
  CUresult (*cuMemSetAccess)(CUdeviceptr address, size_t sizeBytes,
                             const CUmemAccessDesc* descriptions, size_t count);
  /// Optional.
  CUresult (*cuMemGetAccess)(unsigned long long* flags, const CUmemLocation* location,
                             CUdeviceptr address);
  CUresult (*cuMemGetAllocationGranularity)(size_t* granularity,
                                            const CUmemAllocationProp* properties,
                                            CUmemAllocationGranularity_flags option);

  CUresult (*cuMemcpyDtoH)(void* destination, CUdeviceptr source, size_t sizeBytes);
  CUresult (*cuMemcpyHtoD)(CUdeviceptr destination, const void* source, size_t sizeBytes);
  CUresult (*cuMemcpyAsync)(CUdeviceptr destination, CUdeviceptr source, size_t sizeBytes,
                            CUstream stream);
  CUresult (*cuMemcpyDtoHAsync)(void* destination, CUdeviceptr source, size_t sizeBytes,
                                CUstream stream);
  CUresult (*cuMemcpyHtoDAsync)(CUdeviceptr destination, const void* source, size_t sizeBytes,
                                CUstream stream);
  CUresult (*cuMemcpyDtoDAsync)(CUdeviceptr destination, CUdeviceptr source, size_t sizeBytes,
                                CUstream stream);
  CUresult (*cuMemsetD8Async)(CUdeviceptr destination, unsigned char value, size_t count,
                              CUstream stream);

  CUresult (*cuStreamCreate)(CUstream* stream, unsigned flags);
  CUresult (*cuStreamCreateWithPriority)(CUstream* stream, unsigned flags, int priority);
  CUresult (*cuStreamDestroy)(CUstream stream);
  CUresult (*cuStreamSynchronize)(CUstream stream);
  CUresult (*cuStreamQuery)(CUstream stream);
  CUresult (*cuStreamWaitEvent)(CUstream stream, CUevent event, unsigned flags);
  CUresult (*cuStreamGetCtx)(CUstream stream, CUcontext* context);
  CUresult (*cuStreamIsCapturing)(CUstream stream, CUstreamCaptureStatus* status);
  CUresult (*cuThreadExchangeStreamCaptureMode)(CUstreamCaptureMode* mode);
  CUresult (*cuLaunchHostFunc)(CUstream stream, CUhostFn function, void* data);

  CUresult (*cuEventCreate)(CUevent* event, unsigned flags);
  CUresult (*cuEventRecord)(CUevent event, CUstream stream);
  CUresult (*cuEventQuery)(CUevent event);
  CUresult (*cuEventSynchronize)(CUevent event);
  CUresult (*cuEventDestroy)(CUevent event);
  CUresult (*cuEventElapsedTime)(float* milliseconds, CUevent start, CUevent end);

  CUresult (*cuModuleLoadDataEx)(CUmodule* module, const void* image, unsigned optionCount,
                                 CUjit_option* options, void** values);
  CUresult (*cuModuleUnload)(CUmodule module);
  CUresult (*cuModuleGetFunction)(CUfunction* function, CUmodule module, const char* name);
  CUresult (*cuModuleGetGlobal)(CUdeviceptr* address, size_t* sizeBytes, CUmodule module,
                                const char* name);
  CUresult (*cuFuncGetModule)(CUmodule* module, CUfunction function);
  CUresult (*cuFuncGetAttribute)(int* value, CUfunction_attribute attribute, CUfunction function);
  CUresult (*cuFuncSetAttribute)(CUfunction function, CUfunction_attribute attribute, int value);
  /// Optional (12.3).
  CUresult (*cuFuncGetName)(const char** name, CUfunction function);
  /// Optional (12.4).
  CUresult (*cuFuncGetParamInfo)(CUfunction function, size_t index, size_t* offset,
                                 size_t* sizeBytes);
  /// Optional (12.0): from the runtime's cudaKernel_t / library loading to function and module.
  CUresult (*cuKernelGetFunction)(CUfunction* function, CUkernel kernel);
  CUresult (*cuKernelGetLibrary)(CUlibrary* library, CUkernel kernel); ///< optional (12.5)
  CUresult (*cuLibraryGetModule)(CUmodule* module, CUlibrary library); ///< optional (12.0)

  CUresult (*cuLaunchKernel)(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                             unsigned blockX, unsigned blockY, unsigned blockZ,
                             unsigned sharedBytes, CUstream stream, void** args, void** extra);
  CUresult (*cuLaunchCooperativeKernel)(CUfunction function, unsigned gridX, unsigned gridY,
                                        unsigned gridZ, unsigned blockX, unsigned blockY,
                                        unsigned blockZ, unsigned sharedBytes, CUstream stream,
                                        void** args);
  CUresult (*cuLaunchKernelEx)(const CUlaunchConfig* config, CUfunction function, void** args,
                               void** extra);
  // Graphs. All optional (12.0): of their handles, and the runtime's, which are the same.
  CUresult (*cuGraphGetNodes)(CUgraph graph, CUgraphNode* nodes, size_t* count);
  CUresult (*cuGraphNodeGetType)(CUgraphNode node, CUgraphNodeType* type);
  CUresult (*cuGraphChildGraphNodeGetGraph)(CUgraphNode node, CUgraph* graph);
  CUresult (*cuGraphKernelNodeGetParams)(CUgraphNode node, CUkernelNodeParams* params);
  CUresult (*cuGraphKernelNodeGetAttribute)(CUgraphNode node, int attribute,
                                            CUlaunchAttributeValue* value);
  CUresult (*cuGraphExecGetFlags)(CUgraphExec exec, unsigned long long* flags);
  CUresult (*cuGraphExecKernelNodeSetParams)(CUgraphExec exec, CUgraphNode node,
                                             const CUkernelNodeParams* params);

  CUresult (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int* blocks, CUfunction function,
                                                          int blockSize, size_t dynamicSharedBytes);
  CUresult (*cuOccupancyMaxPotentialClusterSize)(int* clusterSize, CUfunction function,
                                                 const CUlaunchConfig* config);
  CUresult (*cuOccupancyMaxActiveClusters)(int* clusters, CUfunction function,
                                           const CUlaunchConfig* config);

  // What the shared parts call.
  std::string textOf(gpu::Status status) const override;
  bool isLost(gpu::Status status) const noexcept override;
  [[noreturn]] void raise(gpu::Status status, std::string_view what) const override;
  gpu::Status enter(CUcontext context, CUcontext* before) const override;
  void leave(CUcontext before) const noexcept override;
  gpu::Status currentDevice(int* device) const override;
  gpu::Status memoryGranularity(size_t* granularity, int device) const override;
  gpu::Status reserveAddresses(uint64_t* granted, size_t sizeBytes, uint64_t wanted) const override;
  gpu::Status freeAddresses(uint64_t address, size_t sizeBytes) const override;
  gpu::Status createMemory(gpu::MemoryHandle* memory, int device, size_t sizeBytes,
                           bool isForNetworks) const override;
  gpu::Status releaseMemory(gpu::MemoryHandle memory) const override;
  gpu::Status mapMemory(uint64_t address, size_t sizeBytes,
                        gpu::MemoryHandle memory) const override;
  bool mapsManyTimes() const noexcept override { return true; }
  gpu::Status unmapMemory(uint64_t address, size_t sizeBytes) const override;
  gpu::Status allowAccess(uint64_t address, size_t sizeBytes, int device) const override;
  gpu::Status allowReading(uint64_t address, size_t sizeBytes, int device) const override;
  gpu::Status memoryLeft(size_t* freeBytes, size_t* totalBytes) const override;
  gpu::Status pin(void** pointer, size_t sizeBytes) const override;
  gpu::Status unpin(void* pointer) const override;
  gpu::Status createStream(CUstream* stream) const override;
  gpu::Status destroyStream(CUstream stream) const override;
  gpu::Status waitForStream(CUstream stream) const override;
  gpu::Status queryStream(CUstream stream) const override;
  gpu::Status copyToDevice(uint64_t destination, const void* source, size_t sizeBytes,
                           CUstream stream) const override;
  gpu::Status copyToHost(void* destination, uint64_t source, size_t sizeBytes,
                         CUstream stream) const override;
  gpu::Status copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes,
                           CUstream stream) const override;
  gpu::Status fill(uint64_t address, unsigned char value, size_t sizeBytes,
                   CUstream stream) const override;
  gpu::Status createEvent(CUevent* event, unsigned flags) const override;
  gpu::Status destroyEvent(CUevent event) const override;
  gpu::Status recordEvent(CUevent event, CUstream stream) const override;
  gpu::Status queryEvent(CUevent event) const override;
  gpu::Status waitForEvent(CUevent event) const override;
  gpu::Status millisecondsBetween(float* elapsed, CUevent start, CUevent end) const override;
  gpu::Status unloadModule(CUmodule module) const override;
  gpu::Status functionIn(CUfunction* function, CUmodule module, const char* name) const override;
  gpu::Status startKernel(CUfunction function, uint32_t blocks, uint32_t threads, CUstream stream,
                          void* const* args) const override;
};

/// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)". Works without a
/// driver too, then with the number alone.
std::string describe(CUresult result);

/// Whether the context of this process is lost after `result`.
bool isSticky(CUresult result) noexcept;

/// \throws Error "<what> failed: <the driver's text>": OutOfMemory, BackendUnavailable (no device,
/// driver mismatch), CompileFailed (images), else DeviceFailed.
[[noreturn]] void fail(CUresult result, std::string_view what);

inline void check(CUresult result, std::string_view what) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    fail(result, what);
}

} // namespace mneme::device::cuda
