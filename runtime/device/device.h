// Room device: what every device offers. Implementations live in device/<backend>/; nothing above
// this interface knows which one it talks to. Depends on base only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/hash.h"
#include "runtime/device/compare.h"

namespace mneme::device {

/// Facts about a device; sizes in bytes.
struct Description {
  std::string id;     ///< "cpu", "cuda:0"
  std::string name;   ///< "CPU (AMD EPYC 7B13)", "NVIDIA H200"
  std::string target; ///< what runtime/compile is asked for: "cpu", "sm_90"
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
  /// Blocks begin with the last one, where the device chooses their order and none waits for
  /// another: a kernel whose result depends on the order shows it.
  bool isReversed = false;
};

/// \throws Error{InvalidArgument} with a sentence when no device of this kind could run `shape`
/// (zero or too large dims, more shared memory than a block can have).
void checkShape(const Description& device, const LaunchShape& shape, uint64_t staticSharedBytes);

/// A device global of a loaded module.
struct ModuleGlobal {
  std::string name;
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

/// Where a recorded global has to be.
struct GlobalPlacement {
  std::string name;
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
};

/// Resources of one loaded kernel; zero where the device has no such notion.
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
  /// Bytes of each argument; nothing if neither the image nor the device can tell.
  virtual std::optional<std::vector<uint64_t>> argumentSizes() const = 0;
};

struct CopyRange {
  uint64_t destination = 0;
  uint64_t source = 0;
  uint64_t sizeBytes = 0;
};

/// Device-to-device copies that are done many times. Must not outlive its device.
class PreparedRestore {
public:
  virtual ~PreparedRestore() = default;
  /// Does what Device::restore() does with the ranges it was made from.
  virtual void run() = 0;
};

/// Host memory the device copies from at full bus speed: pinned where that means something.
class StagingBuffer {
public:
  virtual ~StagingBuffer() = default;
  virtual std::span<std::byte> bytes() = 0;
};

/// A device. Not thread-safe unless said so; one host thread drives one Device.
class Device {
public:
  virtual ~Device() = default;
  virtual const Description& description() const = 0;
  /// The same, as programs find it that were built for `arch`.
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
  /// Of the guard page, a power of two; 0 where the device has none.
  virtual uint64_t guardPageBytes() const { return 0; }
  /// Puts one page of zeros at every place of a part of a reservation that begins and ends at
  /// multiples of its size. Kernels can read there; one that writes fails. unmap() takes it away.
  /// \throws Error, and nothing is mapped then
  virtual void mapGuard(uint64_t address, uint64_t sizeBytes);

  // Copies; complete on return. \throws Error{DeviceFailed} with the driver's message.
  virtual void copyToHost(void* destination, uint64_t source, size_t sizeBytes) = 0;
  virtual void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) = 0;

  /// Makes a buffer for many copies to the device. \throws Error{OutOfMemory}
  virtual std::unique_ptr<StagingBuffer> makeStaging(size_t sizeBytes);
  /// Starts copying the first `sizeBytes` of `source`, which must stay as it is until
  /// waitForCopy(ticket). Copies are in order with every other operation of this device.
  /// Returns the ticket.
  virtual uint64_t startCopyToDevice(uint64_t destination, StagingBuffer& source, size_t sizeBytes);
  virtual void waitForCopy(uint64_t ticket);

  // Bulk operations at memory bandwidth.
  /// hashes[i] = hash128 of page i of [address, address + size); the last page may be short.
  virtual void hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                         std::span<Hash128> hashes) = 0;
  /// Indices of the pages in which the two ranges differ.
  virtual std::vector<uint64_t> diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                          uint64_t pageBytes) = 0;
  /// Device-to-device copies; ranges do not overlap.
  virtual void restore(std::span<const CopyRange> ranges) = 0;
  /// For ranges that are restored again and again: what can be done once is done here.
  virtual std::unique_ptr<PreparedRestore> prepareRestore(std::vector<CopyRange> ranges);
  /// Verifies all ranges in one pass; reports[i] belongs to requests[i].
  virtual std::vector<CompareReport> compare(std::span<const CompareRequest> requests) = 0;

  /// Loads an image made by runtime/compile for description().target with the kernel of this
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
  virtual bool isUsable() const = 0;

  /// Replaces what the device's caches hold, so that the next launch starts cold.
  virtual void flushCaches() = 0;
  /// What launch() measures with, and measured the last launch with: "host clock", "events",
  /// "cupti" or "dispatch".
  virtual const char* timerName() const = 0;
};

/// A device that may or may not be there.
struct DeviceStatus {
  std::string id; ///< "cpu", "cuda:0", "hip"
  bool isAvailable = false;
  std::string name;
  std::string whyUnavailable; ///< a sentence a user can act on; empty when available
};

/// Lists every backend without creating contexts. The CPU device is always there.
std::vector<DeviceStatus> listDevices();

/// Says what a device is and can do without opening it; ids and errors as for openDevice(), but
/// that it may not be possible to open what can be described.
Description describeDevice(const std::string& id);

/// Opens a device by id ("cpu", "cuda:N", "hip:N"). An empty id means MNEME_DEVICE, else the first
/// GPU found, else "cpu". \throws Error{BackendUnavailable} with the reason, Error{InvalidArgument}
/// for an id of unknown form.
std::unique_ptr<Device> openDevice(const std::string& id);

} // namespace mneme::device
