// Room devices/gpu: the interface to a vendor's driver for code that is the same for all vendors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mneme::device::gpu {

// Objects of the driver.
using ContextHandle = struct ContextObject*;
using StreamHandle = struct StreamObject*;
using EventHandle = struct EventObject*;
using ModuleHandle = struct ModuleObject*;
using FunctionHandle = struct FunctionObject*;
using MemoryHandle = uint64_t;

/// The result of a call: the driver's own code. The numbers below are the same for all vendors.
using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNotReady = 600;

/// Flags of events, the same for all vendors as well.
inline constexpr unsigned kTimedEvent = 0;
inline constexpr unsigned kUntimedEvent = 2;

/// Driver calls that every vendor has, bypassing interposed symbols. Unless stated otherwise they
/// use the current context. As thread-safe as the driver.
class Driver {
public:
  virtual ~Driver() = default;

  /// The driver's text for a code, with its name and number.
  virtual std::string textOf(Status status) const = 0;
  /// Whether the context of this process is lost after `status`.
  virtual bool isLost(Status status) const noexcept = 0;
  /// \throws Error "<what> failed: <the driver's text>"
  [[noreturn]] virtual void raise(Status status, std::string_view what) const = 0;
  void require(Status status, std::string_view what) const {
    if (status != kSuccess) [[unlikely]]
      raise(status, what);
  }

  /// Makes a context current for this thread; `before` is for leave(). May be nested.
  virtual Status enter(ContextHandle context, ContextHandle* before) const = 0;
  virtual void leave(ContextHandle before) const noexcept = 0;
  /// The device of the current context.
  virtual Status currentDevice(int* device) const = 0;

  // Addresses, and memory at them. Sizes are multiples of the granularity.
  virtual Status memoryGranularity(size_t* granularity, int device) const = 0;
  /// The largest number of bytes that can be mapped at once into a reservation; a multiple of the
  /// granularity.
  virtual uint64_t mappingBytes() const noexcept { return UINT64_MAX; }
  /// `wanted` 0: any address. The granted address may differ from the wanted one.
  virtual Status reserveAddresses(uint64_t* granted, size_t sizeBytes, uint64_t wanted) const = 0;
  virtual Status freeAddresses(uint64_t address, size_t sizeBytes) const = 0;
  /// `isForNetworks`: let network cards access it, if they can.
  virtual Status createMemory(MemoryHandle* memory, int device, size_t sizeBytes,
                              bool isForNetworks) const = 0;
  virtual Status releaseMemory(MemoryHandle memory) const = 0;
  virtual Status mapMemory(uint64_t address, size_t sizeBytes, MemoryHandle memory) const = 0;
  /// Whether memory can be mapped at many places at once.
  virtual bool mapsManyTimes() const noexcept { return false; }
  virtual Status unmapMemory(uint64_t address, size_t sizeBytes) const = 0;
  virtual Status allowAccess(uint64_t address, size_t sizeBytes, int device) const = 0;
  /// The same for reading only, if the vendor supports that.
  virtual Status allowReading(uint64_t address, size_t sizeBytes, int device) const {
    return allowAccess(address, sizeBytes, device);
  }
  virtual Status memoryLeft(size_t* freeBytes, size_t* totalBytes) const = 0;
  virtual Status pin(void** pointer, size_t sizeBytes) const = 0;
  virtual Status unpin(void* pointer) const = 0;

  // Queues: operations are started, not waited for.
  virtual Status createStream(StreamHandle* stream) const = 0;
  virtual Status destroyStream(StreamHandle stream) const = 0;
  virtual Status waitForStream(StreamHandle stream) const = 0;
  virtual Status queryStream(StreamHandle stream) const = 0;
  virtual Status copyToDevice(uint64_t destination, const void* source, size_t sizeBytes,
                              StreamHandle stream) const = 0;
  virtual Status copyToHost(void* destination, uint64_t source, size_t sizeBytes,
                            StreamHandle stream) const = 0;
  virtual Status copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes,
                              StreamHandle stream) const = 0;
  virtual Status fill(uint64_t address, unsigned char value, size_t sizeBytes,
                      StreamHandle stream) const = 0;

  virtual Status createEvent(EventHandle* event, unsigned flags) const = 0;
  virtual Status destroyEvent(EventHandle event) const = 0;
  virtual Status recordEvent(EventHandle event, StreamHandle stream) const = 0;
  virtual Status queryEvent(EventHandle event) const = 0;
  virtual Status waitForEvent(EventHandle event) const = 0;
  virtual Status millisecondsBetween(float* elapsed, EventHandle start, EventHandle end) const = 0;

  virtual Status unloadModule(ModuleHandle module) const = 0;
  virtual Status functionIn(FunctionHandle* function, ModuleHandle module,
                            const char* name) const = 0;
  /// One-dimensional grids and blocks; `args[i]` points to the value of argument i.
  virtual Status startKernel(FunctionHandle function, uint32_t blocks, uint32_t threads,
                             StreamHandle stream, void* const* args) const = 0;
};

} // namespace mneme::device::gpu
