// Room devices/cuda: the CUDA driver, opened at run time. The device and the recorder use it to
// call the driver itself, bypassing every interposed symbol.
#pragma once

#include <string>
#include <string_view>

#include "runtime/devices/cuda/driver_types.h"

namespace mneme::device::cuda {

/// The driver's functions, loaded from libcuda.so.1 under the names that current headers map to
/// (_v2). Members are named as in CUDA's documentation. Those marked optional are null with older
/// drivers.
struct Driver final : gpu::Driver {
  /// Opens the library and initialises the driver once per process.
  /// \throws Error{BackendUnavailable} with a message that a user can act on.
  static const Driver& get();
  /// Like get(), but returns null when there is no usable driver.
  static const Driver* find() noexcept;

#define MNEME_FUNCTION(result, name, arguments) result(*name) arguments;
#include "runtime/devices/cuda/driver_functions.def"

  // Functions that the shared parts call.
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

/// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)". Without a driver
/// the text has only the number.
std::string describe(CUresult result);

/// Returns whether `result` means that this process has lost its context.
bool isSticky(CUresult result) noexcept;

/// \throws Error "<what> failed: <the driver's text>": OutOfMemory, BackendUnavailable (no device,
/// driver mismatch), CompileFailed (images), else DeviceFailed.
[[noreturn]] void fail(CUresult result, std::string_view what);

inline void check(CUresult result, std::string_view what) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    fail(result, what);
}

} // namespace mneme::device::cuda
