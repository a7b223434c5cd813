// Room recorder: device code that the program loads itself, which no unit registers, and
// alternative handles of its own kernels.
#pragma once

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/core/embed/kernel_blob.h"

namespace mneme::record {

/// One module, from its load to its unload.
struct LoadedModule {
  void* handle = nullptr;
  bool isLibrary = false; ///< whether the handle is of the vendor's kind for all contexts
  std::shared_ptr<const embed::BlobSet> blobs;
  embed::CodeImage image; ///< for kernels without IR
  /// Represents the module where a unit is needed. It is never registered.
  mneme_module_entry unit{};
};

/// A kernel that the program has looked up by name.
struct LoadedKernel {
  std::shared_ptr<const LoadedModule> module;
  std::string name; ///< mangled
};

/// The modules that are loaded now. Thread-safe.
class LoadedModules {
public:
  void add(std::shared_ptr<const LoadedModule> module);
  /// Removes a module and its kernels. Returns null if it is unknown.
  std::shared_ptr<const LoadedModule> remove(void* handle);
  /// Notes the handle that a library has in one context.
  void addModuleOf(void* library, void* module);
  void addKernel(const void* function, void* module, const char* name);
  std::optional<LoadedKernel> find(const void* function) const;
  bool knows(const void* function) const;
  /// Notes another handle of a kernel: one of the program's own, or in a module.
  void addAlias(const void* function, const void* kernel);
  /// Returns the kernel that `function` is another handle of, or null.
  const void* behindAlias(const void* function) const;

private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<void*, std::shared_ptr<const LoadedModule>> modules_; ///< by each handle
  std::unordered_map<const void*, LoadedKernel> kernels_; ///< by the vendor's handle
  std::unordered_map<const void*, const void*> aliases_;
};

} // namespace mneme::record
