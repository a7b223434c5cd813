// Room jit/loaded: the interface through which the engine for loaded code uses a driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/embed/device_code.h"
#include "runtime/jit/tuned/file.h"

namespace mneme::jit {

/// An executable graph, and the graph that it was made from, or updated by.
struct LoadedGraph {
  void *exec = nullptr, *graph = nullptr;
  bool isUpdate = false;
};

/// A kernel in it, as the program has it there.
struct LoadedGraphKernel {
  void* node = nullptr;
  const void* function = nullptr; ///< one handle of it, or the only one
  const void* kernel = nullptr;   ///< another, of a library's kernel; may be null
  tuned::Dims dims;
  uint64_t sharedBytes = 0;
  void** args = nullptr;
  void** extra = nullptr;
  bool mayReshape = true; ///< false: its blocks depend on each other
};

/// All functions are thread-safe, and about the context that is current in the calling thread.
class LoadedDriver {
public:
  virtual ~LoadedDriver() = default;

  /// Returns the number of the current device; -1 if there is none. Cheap.
  virtual int currentDevice() noexcept = 0;
  /// Returns an id of the current context that is never used again; 0 if there is none.
  virtual uint64_t currentContext() noexcept = 0;
  /// Returns the target of code for a device: "sm_90", "cpu". \throws Error
  virtual std::string target(int device) = 0;
  /// Whether a launch on the stream becomes a node of a graph; true also if that is unknown.
  virtual bool isCaptured(void* stream) noexcept = 0;
  /// Returns a hash of what code for a device depends on beside its target; empty for GPUs.
  virtual std::string processor() { return {}; }
  /// Asks where a kernel's arguments lie; nothing if the driver does not say.
  virtual std::optional<std::vector<embed::DeviceParameter>> parametersOf(const void* kernel) = 0;

  /// Loads code with zero at its end into the current context, and returns the kernel's handle. It
  /// stays loaded as long as the context. Safe while streams are captured. \throws Error
  virtual void* load(const std::vector<std::byte>& code, const std::string& kernel) = 0;
  /// Gives `kernel` the attributes that the program has given to `own`, with another carve-out of
  /// shared memory, unless that is 0 (tuned::Variant::sharedCarveout). Returns whether a launch
  /// with this dynamic shared memory is then possible.
  virtual bool takeAttributes(const void* own, void* kernel, uint64_t sharedBytes,
                              uint32_t sharedCarveout) noexcept = 0;

  /// Visits the kernels of a graph that run in the current context and can be replaced, and for one
  /// of whose handles `isWanted` holds.
  virtual void visitKernels(const LoadedGraph&,
                            const std::function<bool(const void* function)>& isWanted,
                            const std::function<void(const LoadedGraphKernel&)>& visit) = 0;
  /// Makes launches of the executable graph run `function` there, or the program's own if that is
  /// null, with the same arguments. Drivers take only nodes of the graph that it was made from.
  virtual bool replaceIn(const LoadedGraph& graph, const LoadedGraphKernel& own,
                         const void* function, const tuned::Dims& dims) noexcept = 0;
};

} // namespace mneme::jit
