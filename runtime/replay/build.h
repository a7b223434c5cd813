// Room replay: from a configuration to a loaded module.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"
#include "runtime/compile/service/client.h"
#include "runtime/device/device.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

/// What code is made for on this device.
CodeTarget codeTargetOf(const device::Device& device, const MemoryImage& image);

/// What the device offers the recorded program: HIP allows deeper blocks than CUDA.
device::Description limitsOf(const device::Device& device, const artifact::KernelRecord& record);

/// How a configuration of a recorded launch is launched.
device::LaunchShape launchShape(const artifact::Instance& instance,
                                const Configuration& configuration);

/// What the compiler is asked for. `modules` is the IR, `values` the recorded argument values.
/// \throws Error{InvalidArgument} when launch bounds and block contradict each other.
compile::Request makeRequest(const artifact::KernelRecord& record,
                             const std::vector<std::vector<std::byte>>& modules,
                             const std::vector<std::vector<std::byte>>& values,
                             const CodeTarget& target, const Configuration& configuration,
                             const Options& options);

/// Identity of a request among those of one session.
Hash128 keyOf(const Configuration& configuration, const Options& options);

/// Copies times, sizes and hashes of a build into `result`.
void readStatistics(const std::string& statisticsJson, Result& result);

/// The last few builds and loaded modules of one session, so that asking again costs nothing.
class ModuleCache {
public:
  /// All modules hold the kernel of this mangled name.
  ModuleCache(device::Device& device, MemoryImage& image, std::string kernel)
      : device_(device), image_(image), kernel_(std::move(kernel)) {}

  /// What `request` builds, compiled at most once while it is remembered under `key`; `request` is
  /// only asked for if it has to be compiled. \throws Error as compile::compile()
  std::shared_ptr<const compile::Result> build(const Hash128& key, bool useCache,
                                               const std::function<compile::Request()>& request);

  /// A module with `image`, its recorded globals in place. \throws as Device::load()
  std::shared_ptr<device::Module> load(const std::vector<std::byte>& image);

private:
  template <typename Value> struct Entry {
    Hash128 key;
    std::shared_ptr<Value> value;
  };
  std::shared_ptr<device::Module> loadFresh(const std::vector<std::byte>& image);
  bool isStateless(const device::Module& module) const;
  void adoptGlobals(const device::Module& module);

  device::Device& device_;
  MemoryImage& image_;
  std::string kernel_;
  std::list<Entry<const compile::Result>> builds_; ///< most recently used first
  std::list<Entry<device::Module>> modules_;
};

} // namespace mneme::replay
