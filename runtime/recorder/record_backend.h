// Room recorder: the interface through which the recorder uses the vendor's runtime of a process.
// Each runtime has one implementation, below backends/; everything above is written once. The
// default of a function is right for a runtime that lacks the feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/abi/context_limits.h"
#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/recorder/device_access.h"
#include "runtime/recorder/memory_backend.h"
#include "runtime/recorder/texture_access.h"
#include "runtime/recorder/work_place.h"

namespace mneme::record {

/// The linker options for the vendor's shared runtime: "-l...".
extern const char* const kSharedRuntimeHint;

/// How a launch differs from a plain one.
struct LaunchTraits {
  bool isCooperative = false;
  mneme_dim3 cluster{1, 1, 1}; ///< blocks per cluster
  uint32_t sharedCarveout = 0; ///< as artifact::Instance; 0: the launch says nothing
};

/// What a stream does with work given to it.
enum class Capturing : uint8_t {
  No,
  Yes,
  Failed, ///< the device has failed, and every call reports that
};

/// A kernel, and where its code comes from.
struct KernelPlace {
  const void* handle = nullptr;
  void* loadedModule = nullptr; ///< the vendor's handle, if the program loaded the code itself
  bool isOfLibrary = false;     ///< whether that is a handle for all contexts
  const mneme_module_entry* unit = nullptr; ///< otherwise the unit that registered it
  void* context = nullptr; ///< WorkPlace::context of a loaded module that is not a library
};

/// Thread-safe. The current device and context are those of the calling thread. A status is the
/// vendor's; 0 is success.
class Backend {
public:
  virtual ~Backend() = default;

  /// Returns why nothing can be recorded in this process; empty if it can.
  virtual std::string whyNot() const { return ""; }
  /// Returns the name of a device in recordings: "cuda:0", "cpu".
  virtual std::string deviceName(int device) const = 0;
  /// Prefixes of the file names of its shared runtimes.
  virtual std::span<const char* const> runtimeFiles() const noexcept = 0;
  /// Prefixes of the file names of libraries with kernels and their own runtime.
  virtual std::span<const char* const> kernelLibraries() const noexcept { return {}; }
  /// Those whose kernels wait for kernels on other devices, which a recording would keep from
  /// starting.
  virtual std::span<const char* const> waitingLibraries() const noexcept { return {}; }
  /// Whether the recorder sees what they launch.
  virtual bool seesKernelLibraries() const noexcept { return false; }
  /// The default size of the address window.
  virtual uint64_t windowBytes() const noexcept { return 4ull << 30; }
  /// Whether the runtime is mneme's own, on the CPU device. It treats memory passed to adopt() as
  /// its own; memory that it serves itself cannot be captured.
  virtual bool isOwnRuntime() const noexcept { return false; }

  /// Returns the vendor's text for a status; null if it has none. The text is never freed.
  virtual const char* wordsOf(int status) const noexcept { return nullptr; }

  /// Returns 0 if it is unknown.
  virtual int currentDevice() noexcept = 0;
  /// Waits for the current device.
  virtual int synchronize() noexcept = 0;
  /// Waits for a device, which need not be the current one. By default there is only one.
  virtual int synchronizeDevice(unsigned device) noexcept { return synchronize(); }
  /// Waits for the application's work in the runtime's own context, but not for ever. Returns
  /// nothing if work is still running when the patience is over.
  virtual std::optional<int> synchronizeWithin(unsigned device, const Patience& patience) noexcept {
    return synchronizeDevice(device);
  }
  virtual unsigned deviceCount() noexcept { return 1; }
  /// Returns where this thread works.
  virtual WorkPlace currentPlace() noexcept { return static_cast<unsigned>(currentDevice()); }
  /// Returns the place of a stream that is not a default one; nothing if that is unknown.
  virtual std::optional<WorkPlace> placeOf(void* stream) noexcept { return WorkPlace(); }
  /// Returns where a launch works: at the place of its stream.
  WorkPlace placeOfLaunch(const mneme_launch& launch) noexcept;
  /// Makes a place the current one of this thread; `before` is for leavePlace(). Returns false if
  /// that is impossible; then nothing has changed.
  virtual bool enterPlace(const WorkPlace& place, void*& before) noexcept {
    return place == WorkPlace();
  }
  virtual void leavePlace(void* before) noexcept {}
  /// Call it before the program destroys a context of its own. Returns when nothing here uses it.
  virtual void contextEnds(void* context) noexcept {}
  /// Returns how many multiprocessors a launch may use, if they are a part of the device's.
  virtual artifact::DevicePart partOf(const mneme_launch& launch) noexcept { return {}; }
  /// Makes sure that this thread uses a context in which memory can be placed and captured.
  virtual bool prepareContext() noexcept { return true; }
  /// Makes the access for the current place, which is on this device. \throws Error
  virtual std::unique_ptr<DeviceAccess> makeAccess(unsigned device) = 0;

  /// Whether memory of this kind can be placed.
  virtual bool canPlace(artifact::RegionKind kind) const noexcept { return false; }
  /// Like MakeBackend, for the current device.
  virtual std::unique_ptr<MemoryBackend> makeMemory(unsigned device) { return nullptr; }
  /// Tells the runtime about placed memory. A status other than 0 means that the program's memory
  /// is exhausted.
  virtual int adopt(const void* base, size_t sizeBytes, artifact::RegionKind kind) noexcept {
    return 0;
  }
  virtual void disown(const void* base) noexcept {}

  /// What the program has set for launches of a kernel, as artifact::Instance::sharedCarveout.
  virtual uint32_t carveoutOf(const KernelPlace&) noexcept { return 0; }
  /// What the program has set for kernels in the current context, if the vendor tells.
  virtual CacheConfig cacheConfig() noexcept { return CacheConfig::None; }
  virtual LaunchTraits traitsOf(const mneme_launch& launch) const noexcept {
    return {.isCooperative = launch.form == MNEME_LAUNCH_COOPERATIVE};
  }
  /// Prefixes of the names of device functions with which the grids of a launch on several devices
  /// synchronise.
  virtual std::span<const char* const> functionsAcrossGrids() const noexcept { return {}; }
  /// Returns the stream of a launch in the form that capturing() takes.
  virtual void* streamOf(const mneme_launch& launch) const noexcept { return launch.stream; }
  /// Makes the runtime load a kernel now, because the time of its first launch is recorded.
  /// Failures are ignored. This and the functions that find variables preserve the last error that
  /// the application may ask for.
  virtual void prepareKernel(const KernelPlace& kernel) noexcept = 0;
  /// Whether work given to this stream (not null) becomes part of a graph instead of running. Yes
  /// for a handle that is not a stream: the vendor's function then reports the error.
  virtual Capturing capturing(void* stream) noexcept { return Capturing::No; }

  /// Returns the mangled name of a kernel that the vendor knows by this handle; empty if it does
  /// not tell.
  virtual std::string nameOf(const void* kernel) { return ""; }
  /// Returns which of these modules and libraries that the program has loaded has the kernel, by
  /// any handle of it; null if none, or nobody tells.
  virtual void* ownerOf(const void* kernel, const std::string& name, std::span<void* const> modules,
                        std::span<void* const> libraries) noexcept {
    return nullptr;
  }
  /// Returns what a kernel of code that the program loaded itself takes; nothing if the vendor does
  /// not tell.
  virtual std::optional<std::vector<embed::DeviceParameter>> parametersOf(const void* function) {
    return std::nullopt;
  }
  /// Returns the architecture of the current device, for code that does not say its own.
  virtual std::string architecture() { return ""; }

  /// Returns the address of the device variable with this shadow in the host program; null if it
  /// has none.
  virtual void* addressOf(const void* hostShadow) noexcept { return nullptr; }
  /// Returns the variables with these names in the module of a kernel; they need no shadow.
  /// Variables that cannot be found are left out.
  virtual std::vector<artifact::Region> variablesOf(const KernelPlace& kernel,
                                                    std::span<const std::string> names) {
    return {};
  }
  /// Returns all variables of the program that have content; nothing if the runtime does not know
  /// them.
  virtual std::optional<std::vector<artifact::Region>> allVariables() { return std::nullopt; }

  /// Returns what is asked about texture and surface objects; null if this runtime does not tell.
  virtual const TextureAccess* textures() noexcept { return nullptr; }

  /// Returns those limits of the current context whose bits are set, by the vendor's numbers.
  virtual ContextLimits limits(uint32_t wanted) noexcept { return {}; }

  /// Whether kernels can use pageable memory of the host on the first device where something was
  /// recorded.
  virtual bool usesPageable() const noexcept { return false; }
  /// Whether an access can find the heap from which kernels allocate.
  virtual bool findsHeaps() const noexcept { return false; }

  /// Returns a number that changes when kernels allocate or free memory on the device's heap.
  virtual uint64_t heapState() const noexcept { return 0; }

  /// Whether the present work of a stream can be marked. Without marks, stream-ordered frees wait
  /// for the device.
  virtual bool hasMarks() const noexcept { return false; }
  /// Marks the end of a stream's present work; null if that is impossible now.
  virtual void* markStream(void* stream) noexcept { return nullptr; }
  /// Makes a stream wait for the marked work, on the device. Returns false if that is impossible.
  virtual bool waitOnStream(void* stream, void* mark) noexcept { return false; }
  /// Whether the marked work is done; waits for it if `shallWait`. Frees the mark if it is done.
  virtual bool isMarkPassed(void* mark, bool shallWait) noexcept { return true; }
};

/// Whether it is one of the handles that name a default stream.
inline bool isDefaultStream(const void* stream) noexcept {
  return reinterpret_cast<uintptr_t>(stream) <= 2;
}

inline WorkPlace Backend::placeOfLaunch(const mneme_launch& launch) noexcept {
  void* const stream = streamOf(launch);
  const auto place = isDefaultStream(stream) ? std::nullopt : placeOf(stream);
  return place ? *place : currentPlace();
}

/// While it lives, a place is the current one of this thread, except between leave() and enter().
class AtPlace {
public:
  AtPlace(Backend& backend, const WorkPlace& place) noexcept : backend_(backend), place_(place) {
    enter();
  }
  ~AtPlace() { leave(); }
  AtPlace(const AtPlace&) = delete;
  AtPlace& operator=(const AtPlace&) = delete;

  bool isThere() const noexcept { return isThere_; }
  void enter() noexcept { isThere_ = isThere_ || backend_.enterPlace(place_, before_); }
  void leave() noexcept {
    if (isThere_)
      backend_.leavePlace(before_);
    isThere_ = false;
  }

private:
  Backend& backend_;
  const WorkPlace place_;
  void* before_ = nullptr;
  bool isThere_ = false;
};

/// Returns the backend of the runtime that this process uses. It is found at the first call and
/// never destroyed. Without a runtime it is a backend whose whyNot() says so.
Backend& findBackend() noexcept;

} // namespace mneme::record
