// Room devices/gpu: the code of the bulk operations. Separate from Driver, so that only libraries
// that run them contain it.
#pragma once

#include <string>

#include "runtime/devices/bulk/bulk.h"
#include "runtime/devices/gpu/gpu_driver.h"

namespace mneme::device::gpu {

/// Images of the kernels for the GPUs of a vendor. Thread-safe.
class BulkCode {
public:
  virtual ~BulkCode() = default;
  /// Returns a name of the image that has this kernel.
  virtual std::string imageWith(BulkModule module, const char* kernel) const = 0;
  /// Loads that image into the current context. \throws Error{CompileFailed} and as Driver::raise()
  virtual ModuleHandle load(BulkModule module, const char* kernel) const = 0;
};

} // namespace mneme::device::gpu
