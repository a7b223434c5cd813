// Room core/base: shared libraries opened at run time. A missing library is an Error with a
// message.
#pragma once

#include <string>

#include "runtime/core/base/unique_handle.h"

namespace mneme {

struct DynamicLibraryTraits {
  using Raw = void*;
  static Raw none() noexcept { return nullptr; }
  static void release(Raw raw) noexcept;
};

/// A dlopen'ed library (RTLD_NOW | RTLD_LOCAL), closed on destruction.
class DynamicLibrary {
public:
  /// \throws Error{BackendUnavailable} with the loader's own message.
  static DynamicLibrary open(const std::string& nameOrPath);

  /// \throws Error{BackendUnavailable} when the symbol is missing.
  void* symbol(const char* name) const;
  /// Returns null if the symbol is missing.
  void* findSymbol(const char* name) const noexcept;

private:
  explicit DynamicLibrary(void* raw, std::string name) : handle_(raw), name_(std::move(name)) {}
  UniqueHandle<DynamicLibraryTraits> handle_;
  std::string name_;
};

/// Returns the directory of the shared object (or executable) that contains `address`. Our
/// libraries find their siblings there, in any prefix they were moved to.
std::string directoryOfCode(const void* address);

} // namespace mneme
