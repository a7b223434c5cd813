// Room device/cuda: functions that a program has without telling the dynamic linker, such as those
// of a CUDA runtime linked into it.
#pragma once

#include <map>
#include <string>

namespace mneme::device::cuda {

/// Functions by the symbol table that linkers leave in executables and libraries and `strip`
/// removes.
class HiddenSymbols {
public:
  /// Finds those of the executable or library around `address` that begin with `prefix`; none if it
  /// is stripped or its file cannot be read.
  HiddenSymbols(const void* address, const std::string& prefix) noexcept;

  /// Null if there is none of this name.
  void* find(const std::string& name) const noexcept;

private:
  void read(const std::string& path, uintptr_t bias, const std::string& prefix);

  std::map<std::string, void*> functions_;
};

} // namespace mneme::device::cuda
