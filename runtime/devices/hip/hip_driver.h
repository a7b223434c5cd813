// Room devices/hip: AMD's HIP runtime, opened at run time. Calls go to the library itself,
// bypassing every interposed symbol.
#pragma once

#include <string>
#include <string_view>

#include "runtime/devices/hip/driver_types.h"

namespace mneme::device::hip {

/// HIP's functions, loaded from libamdhip64.so of ROCm 5.2 to 7. Members are named as in HIP's
/// documentation. Those marked optional are null with older versions.
struct Driver final : gpu::Driver {
  /// Opens and initialises the library once per process: an already loaded one, else the file named
  /// by MNEME_HIP_LIBRARY, else the first of libamdhip64.so.7, .6, .5 and libamdhip64.so. \throws
  /// Error{BackendUnavailable} with a message that a user can act on.
  static const Driver& get();
  /// Like get(), but returns null when there is no usable library.
  static const Driver* find() noexcept;

  /// See mappingBytes(); set when the library is opened.
  bool mapsEqualPartsOnly = false;

#define MNEME_FUNCTION(result, name, arguments) result(*name) arguments;
#include "runtime/devices/hip/driver_functions.def"

  // Functions that the shared parts call.
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

/// Returns the context that represents a device in the shared parts; HIP has one per device.
gpu::ContextHandle contextOf(int device) noexcept;

} // namespace mneme::device::hip
