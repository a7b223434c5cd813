// Room devices/cuda: finds functions of a program that the dynamic linker does not know, such as
// those of a statically linked CUDA runtime.
#pragma once

#include <map>
#include <string>

namespace mneme::device::cuda {

/// Finds functions through the symbol table that linkers write into executables and libraries and
/// that `strip` removes.
class HiddenSymbols {
public:
  /// Reads the functions whose names begin with `prefix` from the executable or library that
  /// contains `address`. There are none if it is stripped or its file cannot be read.
  HiddenSymbols(const void* address, const std::string& prefix) noexcept;

  /// Returns null if there is no function of this name.
  void* find(const std::string& name) const noexcept;

private:
  std::map<std::string, void*> functions_;
};

} // namespace mneme::device::cuda
