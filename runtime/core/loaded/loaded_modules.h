// Room core/loaded: device code that the program loads itself, which no unit registers, and
// alternative handles of its own kernels.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/embed/blob_set.h"
#include "runtime/core/embed/code_image.h"

namespace mneme::loaded {

/// What the image of a module holds.
struct LoadedContent {
  std::shared_ptr<const embed::BlobSet> blobs = std::make_shared<const embed::BlobSet>();
  embed::CodeImage image; ///< for kernels without IR
};

/// One module, from its load to its unload.
struct LoadedModule {
  void* handle = nullptr;
  /// The context it was loaded in, where one that the program made itself ends with its modules.
  void* context = nullptr;
  bool isLibrary = false;  ///< whether the handle is of the vendor's kind for all contexts
  bool isBuiltIn = false;  ///< whether it is a library in the program's own files
  bool isOfVendor = false; ///< whether it is in one of the vendor's libraries of kernels
  /// Reads the image, once. Throws nothing.
  std::function<LoadedContent()> read;
  /// Represents the module where a unit is needed. It is never registered.
  mneme_module_entry unit{};

  /// Thread-safe.
  const LoadedContent& content() const {
    std::call_once(isRead_, [this] { content_ = read(); });
    return content_;
  }

private:
  mutable std::once_flag isRead_;
  mutable LoadedContent content_;
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
  /// Returns the handles of the modules of a context that the program made itself.
  std::vector<void*> handlesIn(const void* context) const;
  /// Returns all handles: of modules, and of libraries.
  struct Handles {
    std::vector<void*> modules, libraries;
  };
  Handles handles() const;
  /// Notes the handle that a library has in one context.
  void addModuleOf(void* library, void* module);
  /// Returns whether the handle named another kernel before, whose module ended unseen.
  bool addKernel(const void* function, void* module, const char* name);
  std::optional<LoadedKernel> find(const void* function) const;
  /// Returns the handle that a kernel is known by, from any of its handles; null if it is unknown.
  const void* firstHandle(const void* function) const;
  /// Notes another handle of a kernel: one of the program's own, or in a module. If `kernel` is
  /// null, the handle is that of an unknown kernel from now on.
  void addAlias(const void* function, const void* kernel);

private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<void*, std::shared_ptr<const LoadedModule>> modules_; ///< by each handle
  std::unordered_map<const void*, LoadedKernel> kernels_; ///< by the vendor's handle
  std::unordered_map<const void*, const void*> aliases_;
};

} // namespace mneme::loaded
