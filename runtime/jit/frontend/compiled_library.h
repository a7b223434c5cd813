// Room jit/frontend: the result of compiling a module.
#pragma once

#include <string>

#include "include/proteus/Frontend/Dispatcher.h"
#include "runtime/jit/frontend/device_unit.h"

namespace proteus {

class CompiledLibrary {
public:
  /// A shared object for the host; never closed, because its functions may be running.
  explicit CompiledLibrary(void* handle) : handle_(handle) {}
  /// Kernels; lives for ever.
  explicit CompiledLibrary(mneme::frontend::DeviceUnit& unit) : unit_(&unit) {}

  /// Returns a function, or the handle of a kernel. \throws mneme::Error{NotFound}
  void* find(const std::string& symbol) const;

private:
  void* handle_ = nullptr;
  mneme::frontend::DeviceUnit* unit_ = nullptr;
};

} // namespace proteus
