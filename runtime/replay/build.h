// Room replay: from a configuration to a loaded module.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/devices/device.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

/// Returns the target of code for this device.
CodeTarget codeTargetOf(const device::Device& device, const MemoryImage& image);

/// Returns the limits of the device for the recorded program: HIP allows deeper blocks than CUDA.
device::Description limitsOf(const device::Device& device, const artifact::KernelRecord& record);

/// Returns the shape of the launch for a configuration of a recorded launch.
device::LaunchShape launchShape(const artifact::Instance& instance,
                                const Configuration& configuration);

/// Makes the compiler's request. `modules` is the IR, `values` the recorded argument values.
/// \throws Error{InvalidArgument} when launch bounds and block contradict each other.
compile::Request makeRequest(const artifact::KernelRecord& record,
                             const std::vector<std::vector<std::byte>>& modules,
                             const std::vector<std::vector<std::byte>>& values,
                             const CodeTarget& target, const Configuration& configuration,
                             const Options& options);

/// Returns the identity of a request within one session.
Hash128 keyOf(const Configuration& configuration, const Options& options);

/// Copies times, sizes and hashes of a build into `result`.
void readStatistics(const std::string& statisticsJson, Result& result);

/// Keeps the last few builds and loaded modules of one session, so that repeated requests cost
/// nothing.
class ModuleCache {
public:
  /// All modules contain the kernel with this mangled name.
  ModuleCache(device::Device& device, MemoryImage& image, std::string kernel)
      : device_(device), image_(image), kernel_(std::move(kernel)) {}

  /// Returns the code for a configuration. `request` is called only if it must be compiled, which
  /// code without IR never is. \throws Error as compile::compile() and recordedBuild()
  std::shared_ptr<const compile::Result> build(const artifact::KernelRecord& record,
                                               const std::vector<std::vector<std::byte>>& modules,
                                               const Configuration& configuration,
                                               const Options& options,
                                               const std::function<compile::Request()>& request);

  /// Loads `image` with its recorded globals in place. \throws as Device::load()
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
