// Room record: what the recorder needs of the vendor's runtime that a process uses. One
// implementation per runtime, below backends/; everything above it is written once. What a function
// does by default is right for a runtime that lacks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/mneme_rt.h"
#include "runtime/artifact/recording.h"
#include "runtime/record/device_access.h"
#include "runtime/record/memory_backend.h"

namespace mneme::record {

/// How programs are linked with the vendor's shared runtime: "-l...".
extern const char* const kSharedRuntimeHint;

/// How a launch differs from a plain one.
struct LaunchTraits {
  bool isCooperative = false;
  mneme_dim3 cluster{1, 1, 1}; ///< blocks per cluster
};

/// What a stream does with work.
enum class Capturing : uint8_t {
  No,
  Yes,
  Failed, ///< the device has failed, and answers so to everything
};

/// A kernel, and where its code comes from.
struct KernelPlace {
  const void* handle = nullptr;
  void* loadedModule = nullptr; ///< the vendor's, where the program loaded the code itself
  const mneme_module_entry* unit = nullptr; ///< else: which registered it
};

/// Thread-safe; the current device and context are those of the calling thread. A status is the
/// vendor's, 0 is success.
class Backend {
public:
  virtual ~Backend() = default;

  /// A sentence when nothing can be recorded in this process, else empty.
  virtual std::string whyNot() const { return ""; }
  /// What recordings call a device: "cuda:0", "cpu".
  virtual std::string deviceName(int device) const = 0;
  /// The file names of its shared runtimes begin so.
  virtual std::span<const char* const> runtimeFiles() const noexcept = 0;
  /// The file names of libraries with kernels and a runtime of their own begin so.
  virtual std::span<const char* const> kernelLibraries() const noexcept { return {}; }
  /// Of the address window, where the user does not say.
  virtual uint64_t windowBytes() const noexcept { return 4ull << 30; }
  /// Whether the runtime is mneme's own, on the CPU device: it knows what is placed by adopt() as
  /// its own memory, and what it serves itself cannot be captured.
  virtual bool isOwnRuntime() const noexcept { return false; }

  /// 0 where it cannot be told.
  virtual int currentDevice() noexcept = 0;
  /// Waits for the current device.
  virtual int synchronize() noexcept = 0;
  /// Waits for a device that may not be the current one; by default there is only one.
  virtual int synchronizeDevice(unsigned device) noexcept { return synchronize(); }
  /// The same for work of the application in the runtime's own context, and not for ever: nothing
  /// if some goes on when the patience is over.
  virtual std::optional<int> synchronizeWithin(unsigned device, const Patience& patience) noexcept {
    return synchronizeDevice(device);
  }
  virtual unsigned deviceCount() noexcept { return 1; }
  /// The device of a stream that is no default one; nothing where that cannot be told, or the
  /// stream is of a context the recorder does not work in.
  virtual std::optional<unsigned> deviceOf(void* stream) noexcept { return 0; }
  /// Makes a device the current one of this thread; `before` is for leaveDevice(). False if it
  /// cannot: nothing has changed then.
  virtual bool enterDevice(unsigned device, void*& before) noexcept { return device == 0; }
  virtual void leaveDevice(void* before) noexcept {}
  /// Makes sure that this thread works in a context in which memory can be placed and captured.
  virtual bool prepareContext() noexcept { return true; }
  /// For the current device. \throws Error
  virtual std::unique_ptr<DeviceAccess> makeAccess(unsigned device) = 0;

  /// Whether memory of this kind can be placed.
  virtual bool canPlace(artifact::RegionKind kind) const noexcept { return false; }
  /// As MakeBackend, for the current device.
  virtual std::unique_ptr<MemoryBackend> makeMemory(unsigned device) { return nullptr; }
  /// Tells the runtime about memory that was placed; unless 0, the program has had all there is.
  virtual int adopt(const void* base, size_t sizeBytes, artifact::RegionKind kind) noexcept {
    return 0;
  }
  virtual void disown(const void* base) noexcept {}

  virtual LaunchTraits traitsOf(const mneme_launch& launch) const noexcept {
    return {.isCooperative = launch.form == MNEME_LAUNCH_COOPERATIVE};
  }
  /// Functions by which the grids of a launch on several devices know of each other: their names
  /// in device code begin so.
  virtual std::span<const char* const> functionsAcrossGrids() const noexcept { return {}; }
  /// As capturing() takes it.
  virtual void* streamOf(const mneme_launch& launch) const noexcept { return launch.stream; }
  /// Makes the runtime load a kernel now: the time of its first launch is recorded. Failures do not
  /// matter. This and what looks for variables leave the error the application may ask for as it
  /// is.
  virtual void prepareKernel(const KernelPlace& kernel) noexcept = 0;
  /// Whether work given to this stream (not null) becomes part of a graph instead of being run. A
  /// handle that is no stream is the vendor's to judge: Yes.
  virtual Capturing capturing(void* stream) noexcept { return Capturing::No; }

  /// Where the device variable with this shadow in the host program is; null if it has no place.
  virtual void* addressOf(const void* hostShadow) noexcept { return nullptr; }
  /// Variables of these names in the module of a kernel, which need no shadow; without those that
  /// cannot be found.
  virtual std::vector<artifact::Region> variablesOf(const KernelPlace& kernel,
                                                    std::span<const std::string> names) {
    return {};
  }
  /// All of the program that have their content; nothing where the runtime cannot tell.
  virtual std::optional<std::vector<artifact::Region>> allVariables() { return std::nullopt; }

  /// Another number when kernels have left memory on the device's heap, or freed some, meanwhile.
  virtual uint64_t heapState() const noexcept { return 0; }

  /// Whether there are marks behind the work a stream has now. Without them frees in the order of a
  /// stream wait for the device.
  virtual bool hasMarks() const noexcept { return false; }
  /// Null if there can be none now.
  virtual void* markStream(void* stream) noexcept { return nullptr; }
  /// Makes a stream wait for the marked work, on the device. False if it cannot.
  virtual bool waitOnStream(void* stream, void* mark) noexcept { return false; }
  /// Whether the work is done (after waiting for it, if asked); the mark is then gone.
  virtual bool isMarkPassed(void* mark, bool shallWait) noexcept { return true; }
};

/// While it lives, a device is the current one of this thread, but between leave() and enter().
class OnDevice {
public:
  OnDevice(Backend& backend, unsigned device) noexcept : backend_(backend), device_(device) {
    enter();
  }
  ~OnDevice() { leave(); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  bool isThere() const noexcept { return isThere_; }
  void enter() noexcept { isThere_ = isThere_ || backend_.enterDevice(device_, before_); }
  void leave() noexcept {
    if (isThere_)
      backend_.leaveDevice(before_);
    isThere_ = false;
  }

private:
  Backend& backend_;
  const unsigned device_;
  void* before_ = nullptr;
  bool isThere_ = false;
};

/// The backend of the runtime this process uses, looked up at the first call and never destroyed.
/// Without a runtime it is one that says so.
Backend& findBackend() noexcept;

} // namespace mneme::record
