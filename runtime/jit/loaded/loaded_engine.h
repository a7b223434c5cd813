// Room jit/loaded: launches of tuned kernels whose code is loaded by the program. Knows code by its
// content, or by the IR that it carries. If anything is not as expected, the program's own launch
// happens.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/compiler/service/request.h"
#include "runtime/core/embed/jit_options.h"
#include "runtime/core/embed/kernel_blob.h"
#include "runtime/core/loaded/loaded_modules.h"
#include "runtime/devices/cuda/graph_sources.h"
#include "runtime/jit/kernel_code.h"
#include "runtime/jit/loaded/loaded_driver.h"
#include "runtime/jit/tuned/file.h"
#include "runtime/jit/tuned/select.h"

namespace mneme::jit {

/// A launch in the form that the driver's functions take.
struct DriverLaunch {
  const void* function = nullptr;
  tuned::Dims dims;
  uint64_t sharedBytes = 0;
  void* stream = nullptr; ///< one of the handles that always denote a default stream, or another
  void** args = nullptr;
  void* const* extra = nullptr; ///< the arguments in one buffer, if `args` is null
  bool mayReshape = true;       ///< false: its blocks depend on each other
};

/// What to launch in place of it.
struct TunedLaunch {
  const void* function = nullptr; ///< perhaps the program's own
  tuned::Dims dims;
};

/// Must live as long as the process once it is used.
class LoadedEngine {
public:
  struct Services {
    std::function<void(const std::string& sentence)> warn; ///< prints each sentence once
    std::function<void(const std::string& line)> trace;    ///< null: no trace
    /// Compiles IR that loaded code carries; null: launches of such code stay as they are.
    std::function<std::vector<std::byte>(const compile::Request& request)> compile = nullptr;
  };

  /// `driver` must outlive the engine.
  LoadedEngine(tuned::File file, LoadedDriver& driver, Services services);
  LoadedEngine(const LoadedEngine&) = delete;
  LoadedEngine& operator=(const LoadedEngine&) = delete;

  /// A library is loaded for all contexts, and has a module in each. Both have kernels.
  enum class Scope { Context, AllContexts };
  /// Call these when the program has loaded, unloaded or asked for something. `image` is as the
  /// driver got it, and `options` what it was to compile PTX by.
  using JitOptions = std::vector<embed::JitOption>;
  void moduleLoaded(void* module, const void* image, Scope scope,
                    const JitOptions& options = {}) noexcept;
  void moduleLoadedFrom(void* module, const char* path, Scope scope,
                        const JitOptions& options = {}) noexcept;
  void moduleUnloaded(void* module) noexcept;
  void moduleAskedFor(void* library, void* module) noexcept;
  void kernelAskedFor(const void* function, void* module, const char* name) noexcept;
  void aliasAskedFor(const void* function, const void* kernel) noexcept;

  /// Returns nothing if the launch is to happen as the program wrote it.
  std::optional<TunedLaunch> planOf(const DriverLaunch& launch) noexcept;

  /// Call it when an executable graph was made or updated. Its kernels become tuned ones where
  /// these fit. What the program asks of its graph stays its own, and so does a kernel that it sets
  /// later. An update brings back the program's own kernels, which stay if it was by another graph
  /// than the executable graph was made from.
  void graphChanged(const LoadedGraph& graph) noexcept;

  /// Makes all launches happen as the program wrote them. Takes no lock: for children of fork().
  void turnOff() noexcept { isOff_.store(true, std::memory_order_relaxed); }
  /// At exit: reports the kernels in the file that no launch used. Waits for no lock.
  void report() noexcept;

private:
  /// Code that a variant has made of the program's, by context and variant, with IR by what it is
  /// made for, too; null: it failed. It
  /// stays loaded as long as its context, and outlives the program's handles of the kernel.
  struct ChangedCode {
    std::mutex mutex;
    std::map<std::pair<uint64_t, uint64_t>, void*> code;
  };
  /// A kernel that the file has, as the program loaded it.
  struct Kernel {
    embed::KernelBlob blob;
    std::vector<tuned::Variant> variants; ///< for this code
    bool hasVariables = false;            ///< of its own, which other code would not share
    /// The only one that this handle is valid in; 0: it is a library's.
    uint64_t context = 0;
    std::atomic<bool> isUsed{false}; ///< a launch was changed
    std::shared_ptr<ChangedCode> changed;
    std::shared_ptr<const KernelCode> ir; ///< null: its code carries none
  };

  bool isWanted(uint64_t contentHash) const;
  using Read = std::function<embed::CodeImage()>;
  void add(void* module, Scope scope, Read read, bool isReadNow) noexcept;
  /// Returns nothing for a handle that was not launched before.
  std::optional<std::shared_ptr<Kernel>> findKnown(const void* function) noexcept;
  std::shared_ptr<Kernel> find(const void* function, int device) noexcept;
  /// Null if launches of it stay as they are, here or everywhere.
  std::shared_ptr<Kernel> tunedHere(const void* function, int device) noexcept;
  void tuneIn(const LoadedGraph& graph, const LoadedGraphKernel& one, int device);
  std::shared_ptr<Kernel> read(const void* function, int device);
  std::shared_ptr<Kernel> readIr(const loaded::LoadedKernel& known);
  std::shared_ptr<ChangedCode> changedCodeOf(uint64_t staticHash);
  std::optional<TunedLaunch> choose(Kernel& kernel, const DriverLaunch& launch, int device);
  /// Null: the program's own code runs.
  void* changedCode(Kernel& kernel, size_t variant, const DriverLaunch& launch,
                    const tuned::Dims& dims, void* const* args) noexcept;
  void* compiled(const Kernel& kernel, const tuned::Variant& variant, const tuned::Dims& dims,
                 const std::vector<ArgValue>& values) noexcept;
  void checkCode(const Kernel& kernel, const tuned::Variant& variant);
  void* makeChanged(const Kernel& kernel, const tuned::Variant& variant) noexcept;
  void trace(const Kernel& kernel, const DriverLaunch& launch, int device,
             const tuned::Choice& choice, const std::optional<TunedLaunch>& chosen) noexcept;
  std::string targetOf(int device);
  embed::CodeImage withOptions(embed::CodeImage image, const JitOptions& options);
  void warn(const std::string& kernel, const std::string& why) const noexcept;
  void forget() noexcept;

  tuned::File file_;   ///< for code without IR
  tuned::File withIr_; ///< for loaded code that carries IR
  LoadedDriver& driver_;
  const Services services_;
  std::atomic<bool> isOff_{false};
  std::atomic<bool> hasModules_{false}; ///< any that may have a kernel of the file
  loaded::LoadedModules modules_;
  device::cuda::GraphSources sources_;

  std::shared_mutex mutex_; ///< guards the members below
  /// By every handle that was launched; null: not tuned.
  std::unordered_map<const void*, std::shared_ptr<Kernel>> kernels_;
  std::unordered_map<uint64_t, std::shared_ptr<ChangedCode>> changed_; ///< by static hash

  std::mutex toldMutex_; ///< guards the members below
  std::map<int, std::string> targets_;
  std::set<std::string> lines_; ///< of the trace
  std::set<std::string> used_;  ///< names of kernels with changed launches
};

} // namespace mneme::jit
