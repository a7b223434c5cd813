// Room jit: launches of a program with tuned kernels. Knows no vendor, no compiler and no file;
// whatever fails, the ahead-of-time kernel runs.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/base/grouped_notices.h"
#include "runtime/compile/service/client.h"
#include "runtime/jit/cache_report.h"
#include "runtime/jit/kernel.h"
#include "runtime/jit/kernel_table.h"
#include "runtime/jit/pool.h"
#include "runtime/jit/settings.h"
#include "runtime/tuned/file.h"

namespace mneme::jit {

/// What the engine works with. All thread-safe; `compile` and `makeBackend` may throw Error.
struct Services {
  std::function<std::unique_ptr<Backend>(const mneme_launch& launch, std::string& why)> makeBackend;
  std::function<compile::Result(const compile::Request& request)> compile;
  /// Only what was compiled before, in little time. False: there is nothing, or it failed.
  std::function<bool(const compile::Request& request, compile::Result& result)> findStored;
  std::function<void(const std::string& sentence)> warn; ///< each sentence is heard once
  std::function<void(const std::string& line)> trace;    ///< what Settings::trace asks for
  std::function<const void*(const void* hostShadow)> variablePlace; ///< as variablePlaceOf()
  std::function<void(const std::string& text)> print; ///< the same of marked kernels: to stdout
};

/// Has to live as long as the process once it has launched anything.
class Engine {
public:
  Engine(Settings settings, tuned::File file, Services services);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Launches as tuned, else as the program wrote it. Returns the vendor's status. Throws nothing;
  /// a thread that is cancelled in the vendor's own launch is unwound through it.
  int launch(const mneme_launch& launch);
  /// The program has made or updated an executable graph: its kernels are replaced by tuned ones
  /// there. The graph itself, and what a capture makes, holds the program's own.
  void graphChanged(const ExecutableGraph& graph) noexcept;
  /// Says what the reference tool says when its engine starts. Has to be called before any launch.
  void announce();
  /// Kernels of a unit that is unloaded, with no launch of it in flight. May be called under the
  /// loader's lock: waits for nobody who might need that.
  void forget(const mneme_module_entry* module) noexcept;
  /// Every launch from now on runs as the program wrote it. Children of fork() need it, where locks
  /// may be held by threads that do not exist. Takes no lock.
  void turnOff() noexcept { isOff_.store(true, std::memory_order_relaxed); }
  /// The program has kernels that the file names: it is said if none of them is launched.
  void expectLaunches() noexcept { isForProgram_ = true; }
  /// At exit: what has no effect and was not said yet, and what Settings::trace wants to know.
  /// Waits for no lock.
  void report() noexcept;

private:
  struct Counters {
    std::atomic<uint64_t> tunedLaunches, otherLaunches, built, fromStore, failed;
    std::atomic<uint64_t> readNs, compileNs, loadNs;
  };

  int launchOtherwise(const mneme_launch& launch);
  int launchCaptured(const Kernel& kernel, const mneme_launch& launch);
  void tuneIn(const ExecutableGraph& graph, const GraphKernel& one);
  /// The tuned kernel for a launch planned so; null: the program's own runs.
  LoadedKernel* loadedFor(const Plan& plan);
  Kernel* resolve(const mneme_launch& launch) noexcept;
  Kernel* makeKernel(const mneme_launch& launch, const mneme_module_entry* module,
                     const char* name);
  std::vector<tuned::Variant> tunedVariants(const tuned::Kernel& tuned, const KernelCode& code);
  /// The file has the kernel with another hash in its name only. Said once of each kernel.
  void warnOfOtherCode(const std::string& name);
  void warnOfCode(const std::string& name, const std::string& codes);
  std::vector<tuned::Variant> fittingVariants(const std::vector<tuned::Variant>& ofCode,
                                              const KernelCode& code) const;
  /// Without `launch` where nothing vouches for it, which is said.
  tuned::Variant fitted(tuned::Variant variant, size_t index, const KernelCode& code) const;
  void makeBackend(const mneme_launch& launch);
  /// False: the launch runs as the program wrote it.
  bool planOf(Kernel& kernel, Backend& backend, const LaunchShape& shape, void** args,
              Plan& plan) noexcept;
  bool recallOrMake(Kernel& kernel, const LaunchShape& shape, void** args, Plan& plan) noexcept;
  bool makePlan(Kernel& kernel, const LaunchShape& shape, void** args, Plan& plan) noexcept;
  Plan decide(Kernel& kernel, const LaunchShape& shape, void** args);
  BinaryAnswer binaryFor(Kernel& kernel, size_t variant, int device, const BinarySpec& spec);
  std::string targetOf(int device);
  LoadedKernel* obtain(Binary& binary) noexcept;
  bool startBuilding(Binary& binary);
  bool buildFromStore(Binary& binary);
  void build(Binary& binary) noexcept;
  compile::Result compileFor(const Binary& binary, const compile::Request& request) const;
  void load(Binary& binary) noexcept;
  void fail(Binary& binary, const char* doing, const std::exception& error) noexcept;
  void fail(Binary& binary, const char* doing, const char* why) noexcept;
  /// A sentence about `subject`. The first with its reason is said now, the others are counted.
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

  /// Guards what follows. Held while the loader is asked for things, which another thread may have
  /// locked while it launches something: nobody waits for ever.
  std::timed_mutex resolving_;
  std::unique_ptr<Backend> ownedBackend_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::set<std::string> stale_; ///< names with other code than the file's, which is said

  mutable std::mutex warnedMutex_;
  mutable Grouped warned_;

  std::mutex targetsMutex_;
  std::map<int, std::string> targets_; ///< by device; empty: unusable
};

} // namespace mneme::jit
