// Room base: shared libraries opened at run time. Absence is a state with a sentence.
#pragma once

#include <string>

#include "runtime/base/unique_handle.h"

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
  /// Null when the symbol is missing.
  void* findSymbol(const char* name) const noexcept;

private:
  explicit DynamicLibrary(void* raw, std::string name) : handle_(raw), name_(std::move(name)) {}
  UniqueHandle<DynamicLibraryTraits> handle_;
  std::string name_;
};

/// Directory of the shared object (or executable) that contains `address`: where our own libraries
/// find their siblings, whatever prefix they were moved to.
std::string directoryOfCode(const void* address);

} // namespace mneme
