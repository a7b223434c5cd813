// Room devices: the interface of every device. Implementations are in devices/<backend>/ and
// emulator/executor/; code above this interface does not know which one it uses. Depends on base
// and contracts only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/abi/cache_config.h"
#include "runtime/core/abi/context_limits.h"
#include "runtime/core/abi/texture_object.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/word_ranges.h"
#include "runtime/devices/compare.h"
#include "runtime/devices/texture_objects.h"

namespace mneme::device {

/// Facts about a device; sizes in bytes.
struct Description {
  std::string id;     ///< "cpu", "cuda:0"
  std::string name;   ///< "CPU (AMD EPYC 7B13)", "NVIDIA H200"
  std::string target; ///< target to compile for: "cpu", "sm_90"
  uint64_t totalMemoryBytes = 0;
  uint32_t multiprocessors = 1;
  uint32_t warpSize = 32;
  uint32_t maxThreadsPerBlock = 1024;
  uint32_t maxBlock[3] = {1024, 1024, 64};
  uint32_t maxGrid[3] = {2147483647u, 65535, 65535};
  uint64_t maxSharedPerBlockBytes = 48 * 1024;
  uint64_t maxSharedPerBlockOptinBytes = 227 * 1024;
  uint64_t l2CacheBytes = 0;
  uint32_t maxRegistersPerBlock = 0; ///< 0: no such limit
  uint32_t maxClusterBlocks = 1;     ///< 1: no thread block clusters
  std::string driver;                ///< "CUDA 13.0, driver 580.159.04"; empty for the CPU
};

struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint64_t dynamicSharedBytes = 0;
  uint32_t cluster[3] = {1, 1, 1}; ///< blocks per thread block cluster
  bool isCooperative = false;
  /// Percent of the L1 cache that shall be shared memory, 1 for as little as possible; 0: the
  /// device chooses. Devices without such a choice ignore it.
  uint32_t sharedCarveout = 0;
  CacheConfig cacheConfig = CacheConfig::None; ///< ignored in the same way
  /// Start with the last block, if the device chooses the order and no block waits for another:
  /// reveals kernels whose result depends on the order.
  bool isReversed = false;
};

/// \throws Error{InvalidArgument} if no device of this kind can run `shape` (zero or too large
/// dims, more shared memory than a block can have).
void checkShape(const Description& device, const LaunchShape& shape, uint64_t staticSharedBytes);

/// A device global of a loaded module.
struct ModuleGlobal {
  std::string name;
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

/// The required address of a recorded global.
struct GlobalPlacement {
  std::string name;
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
};

/// Resources of one loaded kernel; zero if the device has no such resource.
struct KernelAttributes {
  uint64_t staticSharedBytes = 0;
  uint64_t localBytes = 0;
  uint64_t constantBytes = 0;
  uint32_t registers = 0;
  uint32_t maxThreadsPerBlock = 1024;
  bool isWorkItemLoop = false; ///< CPU device: runs as a plain loop, not on fibers
};

/// One loaded image with one kernel. Unloaded on destruction. Must not outlive its device.
class Module {
public:
  virtual ~Module() = default;
  virtual std::vector<ModuleGlobal> globals() const = 0;
  virtual KernelAttributes attributes() const = 0;
  /// Returns the size of each argument; nothing if neither the image nor the device knows it.
  virtual std::optional<std::vector<uint64_t>> argumentSizes() const = 0;
};

struct CopyRange {
  uint64_t destination = 0;
  uint64_t source = 0;
  uint64_t sizeBytes = 0;
};

/// Device-to-device copies that are repeated many times. Must not outlive its device.
class PreparedRestore {
public:
  virtual ~PreparedRestore() = default;
  /// Performs Device::restore() for the ranges it was made from.
  virtual void run() = 0;
};

/// Host memory that the device copies from at full bus speed: pinned memory, if the device has a
/// bus.
class StagingBuffer {
public:
  virtual ~StagingBuffer() = default;
  virtual std::span<std::byte> bytes() = 0;
};

/// Reads hardware counters of a kernel, in one launch or more. Must not outlive its device. What a
/// launch takes meanwhile is not its time.
class CounterPasses {
public:
  virtual ~CounterPasses() = default;
  /// What runs from here to end() is counted.
  virtual void begin() = 0;
  /// Waits for what is counted. Returns whether all counters are read; if not, another pass has to
  /// follow with the same work.
  virtual bool end() = 0;
  /// Returns the counters in the order of their names, once all are read.
  virtual std::vector<double> values() = 0;
};

/// A device. Not thread-safe unless stated; one host thread uses one Device.
class Device {
public:
  virtual ~Device() = default;
  virtual const Description& description() const = 0;
  /// The description for programs that were built for `arch`.
  virtual Description descriptionFor(const std::string& arch) const { return description(); }

  // Address space. All sizes are rounded up to granularity() by the device.
  virtual uint64_t granularity() const = 0;
  /// Reserves [address, address + size) without memory behind it; address 0 lets the device choose.
  /// Returns the address. \throws Error{AddressUnavailable} when exactly that range is not granted.
  virtual uint64_t reserve(uint64_t address, uint64_t sizeBytes) = 0;
  virtual void release(uint64_t address, uint64_t sizeBytes) noexcept = 0;
  /// Puts zeroed memory behind a part of a reservation. \throws Error{OutOfMemory}
  virtual void map(uint64_t address, uint64_t sizeBytes) = 0;
  virtual void unmap(uint64_t address, uint64_t sizeBytes) noexcept = 0;
  /// The size of the guard page, a power of two; 0 if the device has none.
  virtual uint64_t guardPageBytes() const { return 0; }
  /// Maps one page of zeros repeatedly into a part of a reservation that begins and ends at
  /// multiples of the page's size. Kernels can read there; a kernel that writes fails. unmap()
  /// removes it.
  /// \throws Error, and nothing is mapped then
  virtual void mapGuard(uint64_t address, uint64_t sizeBytes);

  // Copies; complete on return. \throws Error{DeviceFailed} with the driver's message.
  virtual void copyToHost(void* destination, uint64_t source, size_t sizeBytes) = 0;
  virtual void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) = 0;

  /// Makes a buffer for many copies to the device. \throws Error{OutOfMemory}
  virtual std::unique_ptr<StagingBuffer> makeStaging(size_t sizeBytes);
  /// Starts copying the first `sizeBytes` of `source`, which must not change until
  /// waitForCopy(ticket). Copies are in order with every other operation of this device. Returns
  /// the ticket.
  virtual uint64_t startCopyToDevice(uint64_t destination, StagingBuffer& source, size_t sizeBytes);
  virtual void waitForCopy(uint64_t ticket);

  // Bulk operations at memory bandwidth.
  /// hashes[i] = hash128 of page i of [address, address + size); the last page may be short.
  virtual void hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                         std::span<Hash128> hashes) = 0;
  /// Returns the indices of the pages in which the two ranges differ.
  virtual std::vector<uint64_t> diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                          uint64_t pageBytes) = 0;
  /// Device-to-device copies; ranges do not overlap.
  virtual void restore(std::span<const CopyRange> ranges) = 0;
  /// Returns where the GPU's heap is, from which kernels allocate; makes one of this size if there
  /// is none yet. All operations here can use this memory. An empty range where it is not known,
  /// nothing on devices without such a heap. Call it before modules are loaded.
  virtual std::optional<AddressRange> heap(uint64_t sizeBytes) { return std::nullopt; }
  /// Frees what kernels have allocated on a heap of the device's own, so that a launch that is
  /// repeated gets the same blocks again. Does nothing where the device cannot.
  virtual void resetHeap() {}
  /// Prepares ranges that are restored repeatedly, so that one-time work is done once.
  virtual std::unique_ptr<PreparedRestore> prepareRestore(std::vector<CopyRange> ranges);
  /// Verifies all ranges in one pass; reports[i] belongs to requests[i].
  virtual std::vector<CompareReport> compare(std::span<const CompareRequest> requests) = 0;

  /// Loads an image made by runtime/compiler for description().target with the kernel of this
  /// (mangled) name. Globals named in `placements` live at the given addresses (memory must be
  /// mapped there) if this device places globals when it loads; others are allocated and
  /// initialised. A GPU's image has the places of its globals compiled in already
  /// (compile::Request); there `placements` is ignored and Module::globals() lists what the module
  /// itself holds.
  /// \throws Error{CompileFailed} on a foreign image, Error{AddressUnavailable} naming a global.
  virtual std::unique_ptr<Module> load(std::span<const std::byte> image, const std::string& kernel,
                                       std::span<const GlobalPlacement> placements) = 0;
  /// Whether load() honours placements; if not, they belong into the compile request.
  virtual bool placesGlobalsOnLoad() const { return true; }

  /// Runs the module's kernel to the end. Returns the execution time of the kernel in nanoseconds.
  /// `args[i]` points to the value of argument i.
  /// \throws Error{InvalidArgument} for an impossible shape (nothing ran), Error{DeviceFailed} with
  /// what happened (illegal address, trap, assert, timeout); the device stays usable if it can
  /// (isUsable()).
  /// `timeoutSeconds` 0: no limit.
  virtual uint64_t launch(Module& module, const LaunchShape& shape, void* const* args,
                          double timeoutSeconds) = 0;
  /// Runs `restore` and then the kernel, `count` times, and returns the execution time of each
  /// kernel. `restore` uses nothing but this device. Where the device can queue all of it, it waits
  /// only once; it may then run for `count` times `timeoutSeconds`. \throws as launch()
  virtual std::vector<uint64_t> launchSeries(Module& module, const LaunchShape& shape,
                                             void* const* args, double timeoutSeconds,
                                             uint32_t count, const std::function<void()>& restore);
  virtual bool isUsable() const = 0;

  /// Returns how many bytes of memory are free now; nothing if the device cannot tell.
  virtual std::optional<uint64_t> memoryLeft() { return std::nullopt; }

  /// Lets kernels have at least as much as these say. What the device refuses is logged. Call it
  /// before modules are loaded.
  virtual void raiseLimits(const ContextLimits& limits) {}

  /// Lets everything from here on run on so many multiprocessors, or the next number that the
  /// device can part, or else on all; description() says on how many. Call it at most once, before
  /// anything else. Returns that number; 0 if this kind of device has no parts.
  virtual uint32_t usePart(uint32_t multiprocessors) { return 0; }

  /// Makes texture and surface objects as described, whose memory is mapped. Null if this kind of
  /// device makes none. \throws Error if one cannot be made
  virtual std::unique_ptr<TextureObjects> makeTextures(std::span<const TextureObject> wanted) {
    return nullptr;
  }

  /// Replaces the content of the device's caches, so that the next launch starts cold.
  virtual void flushCaches() = 0;
  /// Starts to read hardware counters, by the names that the vendor's profiler has for them.
  /// \throws Error{Unsupported} if this kind of device has none, Error{BackendUnavailable} if they
  /// are not permitted or a library is missing, Error{InvalidArgument} for an unknown name
  virtual std::unique_ptr<CounterPasses> startCounters(const std::vector<std::string>& names);

  /// Returns the timer of launch(), which measured the last launch: "host clock", "events", "cupti"
  /// or "dispatch".
  virtual const char* timerName() const = 0;
};

/// A device that may be unavailable.
struct DeviceStatus {
  std::string id; ///< "cpu", "cuda:0", "hip"
  bool isAvailable = false;
  std::string name;
  std::string whyUnavailable; ///< a message that tells the user what to do; empty if available
};

/// Lists every backend without creating contexts. The CPU device is always available.
std::vector<DeviceStatus> listDevices();

/// Describes a device without opening it. Takes the ids and throws the errors of openDevice(). A
/// device that can be described may still fail to open.
Description describeDevice(const std::string& id);

/// Opens a device by id ("cpu", "cuda:N", "hip:N"). An empty id means MNEME_DEVICE, else the first
/// GPU found, else "cpu". \throws Error{BackendUnavailable} with the reason, Error{InvalidArgument}
/// for an id of unknown form.
std::unique_ptr<Device> openDevice(const std::string& id);

} // namespace mneme::device
