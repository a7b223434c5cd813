// Room jit/loaded: the interface through which the engine for loaded code uses a driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/embed/device_code.h"

namespace mneme::jit {

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
  /// Asks where a kernel's arguments lie; nothing if the driver does not say.
  virtual std::optional<std::vector<embed::DeviceParameter>> parametersOf(const void* kernel) = 0;

  /// Loads code with zero at its end into the current context, and returns the kernel's handle. It
  /// stays loaded as long as the context. Safe while streams are captured. \throws Error
  virtual void* load(const std::vector<std::byte>& code, const std::string& kernel) = 0;
  /// Gives `kernel` the attributes that the program has given to `own`. Returns whether a launch
  /// with this dynamic shared memory is then possible.
  virtual bool takeAttributes(const void* own, void* kernel, uint64_t sharedBytes) noexcept = 0;
};

} // namespace mneme::jit
