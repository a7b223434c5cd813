// Room record: device code that the program loads itself, which no unit of the program registers,
// and other handles that it has asked for.
#pragma once

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "runtime/abi/mneme_rt.h"
#include "runtime/embed/kernel_blob.h"

namespace mneme::record {

/// One module, from its load to its unload.
struct LoadedModule {
  void* handle = nullptr;
  std::shared_ptr<const embed::BlobSet> blobs;
  /// Stands for it where units are told apart; nobody registers it.
  mneme_module_entry unit{};
};

/// A kernel that the program has asked for by its name.
struct LoadedKernel {
  std::shared_ptr<const LoadedModule> module;
  std::string name; ///< mangled
};

/// What is loaded now. Thread-safe.
class LoadedModules {
public:
  void add(std::shared_ptr<const LoadedModule> module);
  /// Null for one that is not known. Its kernels go, too.
  std::shared_ptr<const LoadedModule> remove(void* handle);
  void addKernel(const void* function, void* module, const char* name);
  std::optional<LoadedKernel> find(const void* function) const;
  bool knows(const void* function) const;
  /// The program has asked for the handle of a kernel of its own.
  void addAlias(const void* function, const void* kernel);
  /// The kernel that `function` is another handle of, or null.
  const void* behindAlias(const void* function) const;

private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<void*, std::shared_ptr<const LoadedModule>> modules_;
  std::unordered_map<const void*, LoadedKernel> kernels_; ///< by the vendor's handle
  std::unordered_map<const void*, const void*> aliases_;
};

} // namespace mneme::record
