// Room jit: handles the launches of a program with tuned kernels. Uses vendors, the compiler and
// files only through interfaces. If anything fails, the ahead-of-time kernel runs.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/compiler/service/client.h"
#include "runtime/core/base/grouped_notices.h"
#include "runtime/jit/cache_report.h"
#include "runtime/jit/jit_settings.h"
#include "runtime/jit/kernel.h"
#include "runtime/jit/kernel_table.h"
#include "runtime/jit/pool.h"
#include "runtime/jit/tuned/file.h"

namespace mneme::jit {

/// The functions that the engine uses. All are thread-safe; `compile` and `makeBackend` may throw
/// Error.
struct Services {
  std::function<std::unique_ptr<Backend>(const mneme_launch& launch, std::string& why)> makeBackend;
  std::function<compile::Result(const compile::Request& request)> compile;
  /// Finds code that was compiled before, quickly. Returns false if there is none, or on failure.
  std::function<bool(const compile::Request& request, compile::Result& result)> findStored;
  std::function<void(const std::string& sentence)> warn; ///< prints each sentence once
  std::function<void(const std::string& line)> trace;    ///< prints what Settings::trace asks for
  std::function<const void*(const void* hostShadow)> variablePlace; ///< as variablePlaceOf()
  std::function<void(const std::string& text)> print; ///< the same for marked kernels, to stdout
};

/// Must live as long as the process once it has launched anything.
class Engine {
public:
  Engine(Settings settings, tuned::File file, Services services);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Launches the tuned kernel, or the program's own. Returns the vendor's status. Throws nothing,
  /// except that a thread cancelled in the vendor's own launch is unwound through this function.
  int launch(const mneme_launch& launch);
  /// Call it when the program has made or updated an executable graph: replaces its kernels by
  /// tuned ones. The graph that it was made from, or captured into, keeps the program's own
  /// kernels.
  void graphChanged(const ExecutableGraph& graph) noexcept;
  /// Prints the lines that the reference tool prints when its engine starts. Call it before any
  /// launch.
  void announce();
  /// Forgets the kernels of a unit that is unloaded; no launch of them may be in flight. May be
  /// called under the loader's lock: waits for no thread that might need that lock.
  void forget(const mneme_module_entry* module) noexcept;
  /// Makes every launch from now on run the program's own kernel. Needed in children of fork(),
  /// where locks may be held by threads that do not exist. Takes no lock.
  void turnOff() noexcept { isOff_.store(true, std::memory_order_relaxed); }
  /// Says that the program has kernels that the file names. report() then mentions it if none of
  /// them was launched.
  void expectLaunches() noexcept { isForProgram_ = true; }
  /// At exit, prints what had no effect and was not reported yet, and what Settings::trace asks
  /// for. Waits for no lock.
  void report() noexcept;

private:
  struct Counters {
    std::atomic<uint64_t> tunedLaunches, otherLaunches, built, fromStore, failed;
    std::atomic<uint64_t> readNs, compileNs, loadNs;
  };

  int launchOtherwise(const mneme_launch& launch);
  int launchCaptured(const Kernel& kernel, const mneme_launch& launch);
  void tuneIn(const ExecutableGraph& graph, const GraphKernel& one);
  /// Returns the tuned kernel for a launch with this plan; null: the program's own runs.
  LoadedKernel* loadedFor(const Plan& plan);
  Kernel* resolve(const mneme_launch& launch) noexcept;
  Kernel* makeKernel(const mneme_launch& launch, const mneme_module_entry* module,
                     const char* name);
  std::vector<tuned::Variant> tunedVariants(const KernelCode& code);
  /// Reports, once per kernel, that the file has the kernel only with another code hash in its
  /// name.
  void warnOfOtherCode(const std::string& name);
  void warnOfCode(const std::string& name, const std::string& codes);
  std::vector<tuned::Variant> fittingVariants(const std::vector<tuned::Variant>& ofCode,
                                              const KernelCode& code) const;
  /// Returns the variant, without its `launch` if nothing guarantees that other dimensions are
  /// right; that is reported.
  tuned::Variant fitted(tuned::Variant variant, size_t index, const KernelCode& code) const;
  void makeBackend(const mneme_launch& launch);
  /// Returns false if the launch runs the program's own kernel.
  bool planOf(Kernel& kernel, Backend& backend, const LaunchShape& shape, void** args,
              Plan& plan) noexcept;
  bool recallOrMake(Kernel& kernel, const LaunchShape& shape, void** args, Plan& plan) noexcept;
  bool makePlan(Kernel& kernel, const LaunchShape& shape, void** args, Plan& plan) noexcept;
  Plan decide(Kernel& kernel, const LaunchShape& shape, void** args);
  BinaryAnswer binaryFor(Kernel& kernel, size_t variant, int device, const BinarySpec& spec);
  std::string targetOf(int device);
  LoadedKernel* obtain(Binary& binary) noexcept;
  bool startBuilding(Binary& binary); ///< false: the launch does not wait for it
  bool buildFromStore(Binary& binary);
  void build(Binary& binary) noexcept;
  compile::Result compileFor(const Binary& binary, const compile::Request& request) const;
  void load(Binary& binary) noexcept;
  void fail(Binary& binary, const char* doing, const std::exception& error) noexcept;
  void fail(Binary& binary, const char* doing, const char* why) noexcept;
  /// Reports a sentence about `subject`. The first with the same reason is printed now, further
  /// ones are counted.
  void warn(const std::string& sentence, const std::string& subject) const;
  void warnOfOtherDevices(Kernel& kernel, const std::string& arch) const;
  void reportUnused();
  void dumpIr(const Binary& binary, const compile::Request& request, const std::string& ir) const;
  void tracePlan(const Kernel& kernel, const LaunchShape& shape, const tuned::Choice& choice,
                 const Plan& plan) const;
  void traceValues(const Binary& binary) const;
  void traceMarked(const Binary& binary, const compile::Request& request,
                   const compile::Result& result) const;
  CacheReport::Entry& usesOf(const Kernel& kernel, const BinarySpec& spec,
                             const tuned::Variant& variant);

  const Settings settings_;
  const tuned::File file_;
  const Services services_;
  KernelTable table_;
  Kernel untuned_;
  std::atomic<bool> isOff_{false};
  std::atomic<bool> isForProgram_{false};
  std::atomic<Backend*> backend_{nullptr}; ///< set before any tuned kernel is in table_
  mutable Counters counters_{};
  Pool& pool_; ///< never destroyed

  CodeReader reader_;
  CacheReport report_;

  /// Guards the members below. It is held during calls into the loader, whose lock another thread
  /// may hold while it launches a kernel. So it is timed: no thread waits for ever.
  std::timed_mutex resolving_;
  std::unique_ptr<Backend> ownedBackend_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::set<std::string> stale_; ///< kernels whose code is not the file's, reported already

  mutable std::mutex warnedMutex_;
  mutable Grouped warned_;

  std::mutex targetsMutex_;
  std::map<int, std::string> targets_; ///< by device; empty: unusable
};

} // namespace mneme::jit
