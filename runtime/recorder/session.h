// Room recorder: one recording session, from the first call of the vendor's runtime to the end of
// the process.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include <semaphore.h>
#include <sys/types.h>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/artifact/writer.h"
#include "runtime/core/loaded/loaded_modules.h"
#include "runtime/recorder/cache_configs.h"
#include "runtime/recorder/capture.h"
#include "runtime/recorder/deferred_frees.h"
#include "runtime/recorder/device_memory.h"
#include "runtime/recorder/executable_graph.h"
#include "runtime/recorder/global_places.h"
#include "runtime/recorder/graph_blocks.h"
#include "runtime/recorder/inside_call.h"
#include "runtime/recorder/kept_graphs.h"
#include "runtime/recorder/kernel_catalog.h"
#include "runtime/recorder/launch_textures.h"
#include "runtime/recorder/live_textures.h"
#include "runtime/recorder/reach.h"
#include "runtime/recorder/record_backend.h"
#include "runtime/recorder/record_settings.h"
#include "runtime/recorder/recorded_sections.h"
#include "runtime/recorder/set_limits.h"
#include "runtime/recorder/sharing.h"

namespace mneme::record {

struct CallOnDevices;
class Next;
class NextOf;

/// The state of the recorder. Made at the first use and never destroyed, because the application's
/// last destructors may still free memory or launch kernels. No public function throws: failures
/// are noted, and the application's own call continues.
class Session {
public:
  static Session& instance() noexcept;
  /// Returns null if the recorder was not used yet.
  static Session* existing() noexcept;

  /// Whether this process records: not if its rank is not listed, settings are invalid, it is a
  /// forked child, or the session has ended.
  bool isActive() const noexcept { return isActive_.load(std::memory_order_acquire); }

  /// Whether a kernel of the application has failed and the device was not reset since. Allocations
  /// are then passed on, so that the vendor refuses them.
  bool hasDeviceFailed() const noexcept { return hasDeviceFailed_.load(std::memory_order_relaxed); }
  void setDeviceFailed(bool hasFailed) noexcept { hasDeviceFailed_ = hasFailed; }

  /// The launch hook: counts the launch, records it if it is due, and calls the vendor. Returns the
  /// vendor's status. Throws nothing, except that a thread cancelled in the vendor's call is
  /// unwound through it.
  int launch(const mneme_launch& launch);
  void moduleUnregistered(const mneme_module_entry* module) noexcept;

  /// One of the launches that a call makes on several devices.
  struct DeviceLaunch {
    mneme_launch launch{}; ///< by asRecorded()
    WorkPlace place;
    const void* code = nullptr; ///< identical for all handles of a kernel
    bool isKnown = false;       ///< if not, it is neither recorded nor counted
  };
  /// The same for all launches of such a call (launches_on_devices.h).
  int launchOnDevices(std::span<const DeviceLaunch> launches, const CallOnDevices& call,
                      const Next& together, const NextOf& alone);

  /// Whether no graph is launched in parts, so that kernels in graphs are not recorded.
  bool leavesGraphsWhole() const noexcept { return settings_.areGraphsWhole; }
  /// The executable graphs whose making was seen.
  ExecutableGraphs& graphs() noexcept { return graphs_; }
  /// The same for the kernels of an executable graph, which `whole` launches.
  int launchGraph(ExecutableGraph& graph, void* stream, const Next& whole);
  /// For a graph whose making was not seen; `what` names it in the summary.
  int launchUnknownGraph(const char* what, const Next& whole);

  // Code that the program loads itself.
  void moduleLoaded(std::shared_ptr<const LoadedModule> module) noexcept;
  /// Forgets the module and returns it; null if it is unknown.
  std::shared_ptr<const LoadedModule> moduleUnloaded(void* handle) noexcept;
  /// Held while code is unloaded: no thread asks the driver about it meanwhile.
  std::unique_lock<std::shared_mutex> unloads() { return std::unique_lock(unloading_); }
  void moduleAskedFor(void* library, void* module) noexcept;
  void kernelAskedFor(const void* function, void* module, const char* name) noexcept;
  /// Notes that `function` is another handle of `kernel`.
  void aliasAskedFor(const void* function, const void* kernel) noexcept;
  // Textures and surfaces of the program.
  void textureMade(uint64_t handle, bool isSurface, const TextureWords& words) noexcept;
  void textureDestroyed(uint64_t handle, bool isSurface) noexcept;
  void arrayPartMade(const void* part, const void* whole, std::optional<uint32_t> level) noexcept;
  void arrayDestroyed(const void* array) noexcept;
  /// Notes that the program set a limit of the current context, by the vendor's number.
  void limitSet(int limit) noexcept;
  /// Notes what the program prefers of the L1 cache for a kernel: in the current context, or in
  /// all of a device.
  void cacheConfigSet(const void* kernel, CacheConfig config, std::optional<int> device) noexcept;

  /// The kernel behind a function's handle; its handle is null if it is unknown.
  struct FoundKernel {
    const void* handle = nullptr;
    std::shared_ptr<const KernelInfo> info;
  };
  FoundKernel findKernel(const void* function) noexcept;
  /// Asks the vendor whose kernel a handle is that was made unseen. Returns it if the code is
  /// known.
  const void* ownedByHandle(const void* function);
  /// Returns the mangled name of a kernel; empty if nobody tells.
  std::string nameOf(const void* function);

  /// Whether the vendor serves allocations now because the program may share them with other
  /// processes. The summary mentions it.
  bool leavesToVendor() noexcept;
  /// Leaves allocations to the vendor from now on, unless the user wants all of them placed.
  void leaveToVendor() noexcept { isLeftToVendor_ = settings_.placement == Placement::Automatic; }

  /// Null in a process that never recorded. Frees are served even after recording has ended.
  Memory* memory() noexcept { return memory_.get(); }
  Backend& backend() const noexcept { return backend_; }
  /// Frees that wait for work on a stream. Null like memory().
  DeferredFrees* deferredFrees() noexcept { return deferredFrees_.get(); }
  /// Memory of graphs that the recorder has. Null like memory().
  GraphBlocks* graphBlocks() noexcept { return graphBlocks_.get(); }
  /// Forgets what the recorder holds on a device that is about to be reset.
  void forgetDevice(unsigned device) noexcept;
  /// Gives up what the recorder holds in a context of the program's own that is about to end.
  /// Returns the code that was loaded there, which ends, too.
  std::vector<std::shared_ptr<const LoadedModule>> contextEnds(void* context) noexcept;
  /// Call it behind the vendor's call, which may have refused.
  void contextEnded(void* context, bool hasEnded,
                    const std::vector<std::shared_ptr<const LoadedModule>>& modules) noexcept;
  /// Frees the recorder's own device memory for an allocation of the application that failed.
  void giveBackDeviceMemory() noexcept;
  /// Returns how much device memory the recorder takes, apart from its window.
  uint64_t ownDeviceBytes(unsigned device) noexcept;

  /// Notes something that is not recorded; notes are counted per reason.
  void note(const std::string& reason) noexcept;
  /// Like note(), but only at the first call with this key.
  void noteOnce(const char* reason, const void* key) noexcept;
  /// The same about a kernel, by its name where somebody knows one. `reason` follows a colon.
  void noteKernelOnce(const char* reason, const void* function) noexcept;

  /// Begins a section of the program's (recorded_sections.h): its number, or 0 in a process that
  /// does not record, or -1, with a notice, if its filter or directory is not one.
  int64_t beginSection(const char* directory, const char* kernels);
  void endSection(int64_t section) noexcept;

  /// Call it when the vendor is about to shut down: waits for content on its way from a device, now
  /// and after every later launch.
  void vendorEnds() noexcept;
  /// Writes everything, prints the summary and stops recording. Idempotent.
  void finish() noexcept;
  /// Makes a thread of the recorder call finish(), and waits for it as long as it makes progress.
  /// Takes no lock, so it may be called from a signal handler. Returns false if the thread does not
  /// exist, or no longer.
  bool finishElsewhere() noexcept;

  /// Makes that thread write what was taken so far, and waits in the same way; the recording
  /// continues. May be called from a signal handler.
  void writeElsewhere() noexcept;

  /// Call it before exec(), which may fail: like finishElsewhere(), but calls of other threads wait
  /// until resume(). Returns false if there is nothing to resume.
  bool pauseElsewhere() noexcept;
  void resumeElsewhere() noexcept;

  /// For fork(): the parent continues, the child does not record.
  void beforeFork() noexcept;
  void afterForkInParent() noexcept;
  void afterForkInChild() noexcept;
  /// Returns false in a forked or vforked child.
  bool isOwner() const noexcept;

private:
  friend class CallGuard;
  /// The kernels of a graph that is kept.
  struct Companions {
    std::vector<std::pair<std::shared_ptr<const KernelInfo>, mneme_launch>> launches;
    /// What any of them can see: one memory from the first to the last.
    std::shared_ptr<LaunchTextures> textures = nullptr;
  };
  struct Attempt {
    std::shared_ptr<const KernelInfo> info;
    LaunchTraits traits;
    uint64_t dynamicHash = 0;
    size_t shape = 0; ///< the entry of Settings::shapes
    bool isWanted = false;
    bool isRecorded = false;
    bool isCounted = false;
    std::optional<int> status;       ///< of the vendor's call, once made
    std::vector<std::string> labels; ///< the thread was in at this launch, the outermost first
    /// The kernels of its graph, if that is kept.
    std::shared_ptr<Companions> companions = nullptr;
  };
  class UnderWay;
  class KeptTextures;
  static const char* const kDeviceBusy; ///< the end of a note
  enum class Wish : uint8_t { Finish, Pause, Resume, Write };

  Session() noexcept;
  bool isCaptured(const mneme_launch& launch) const noexcept;
  bool passesFirst(KernelState& state, const LaunchShapes::Match& shape) const;
  Attempt decide(const mneme_launch& launch, const LaunchTraits* traits = nullptr);
  bool wantsLabels(const std::vector<std::string>& labels);
  bool isWantedNow(const KernelInfo& info, const std::vector<std::string>& labels);
  bool isWantedHere(const KernelInfo& info);
  bool mayBePointer(uint64_t word) const;
  std::string useDirectory(const std::string& directory);
  Attempt decideApart(const DeviceLaunch& one, bool isCooperative);
  bool decideAll(std::span<const DeviceLaunch> launches, bool isCooperative,
                 std::vector<Attempt>& attempts) noexcept;
  void dropRecording(Attempt& attempt, const char* why, bool mayRetry) noexcept;
  int makeTogether(std::vector<Attempt>& attempts, const Next& together);
  void orderBehind(std::span<const DeviceLaunch> launches) noexcept;
  int makeAlone(Attempt& attempt, const DeviceLaunch& one, const Next& alone);
  bool countUnrecorded(const void* function);
  bool nameUnrecorded(ExecutableGraph& graph);
  void countWhole(ExecutableGraph& graph, bool isAny);
  Attempt leaveInGraph(GraphNode& node);
  void dropImpossible(const ExecutableGraph& graph, const GraphNode& node,
                      const mneme_launch& launch, void* stream, Attempt& attempt);
  struct Chosen;
  bool mayRecord(const GraphNode& node, void* stream);
  bool mayRecordIn(const GraphNode& conditional, void* stream);
  bool mayRecordInBodies(ExecutableGraph& graph, void* stream);
  int launchChosen(ExecutableGraph& graph, void* stream, const WorkPlace& place, const Next& whole);
  void runNodes(Chosen& chosen, const GraphBody& body);
  void runNode(Chosen& chosen, const GraphBody& body, size_t index);
  bool runBodies(Chosen& chosen, const GraphNode& conditional);
  Attempt decideNode(Chosen& chosen, GraphNode& node);
  bool isPassed(const Attempt& attempt);
  void countInVain(ExecutableGraph& graph, bool isOfUse, void* stream);
  void runAlone(Chosen& chosen, const GraphNode& node, Attempt& attempt);
  int goOnApart(const std::shared_ptr<Chosen>& chosen);
  int finish(Chosen& chosen, void* stream);
  std::string whyNotKept(const GraphNode& node, const Attempt& attempt,
                         const mneme_launch& launch) const;
  bool keepGraph(const ExecutableGraph& graph, std::vector<Attempt>& attempts,
                 const std::vector<mneme_launch>& launches);
  void recordForGraph(Attempt& attempt, uint64_t salt, uint64_t dynamicHash);
  void addGlobalsOfGraph(const Attempt& attempt, std::vector<artifact::Region>& regions);
  void addArgumentsOfGraph(const Attempt& attempt, const mneme_launch& launch, Reach& reach,
                           DeviceAccess& access, std::vector<artifact::Region>& regions);
  std::vector<std::string> writeGraphs();
  bool decideGraph(ExecutableGraph& graph, void* stream, std::vector<Attempt>& attempts);
  int launchWhole(std::vector<Attempt>& attempts, const char* why, const Next& whole);
  int launchParts(const GraphFunctions& functions, std::vector<Attempt>& attempts,
                  std::vector<RunnablePart>& parts, void* stream, const WorkPlace& place);
  int launchPart(RunnablePart& part, Attempt* attempt, void* stream, const WorkPlace& place);
  void orderBehindParts(ExecutableGraph& graph, void* stream);
  int pass(Attempt& attempt, const mneme_launch& launch);
  int make(Attempt& attempt, const mneme_launch& launch);
  void count(Attempt& attempt);
  std::string whyNot(const Attempt& attempt, const mneme_launch& launch) const;
  void noteFailedBefore(const Attempt& attempt, int status) noexcept;
  void noteRefused(const Attempt& attempt, int status);
  /// Returns a text such as "out of memory (status 2)".
  std::string withWords(int status) const;
  void record(Attempt& attempt, const mneme_launch& launch);
  void recordAlone(Attempt& attempt, const mneme_launch& launch, Alone& alone);
  bool captureAround(Attempt& attempt, const mneme_launch& launch, AtPlace& there,
                     artifact::InstanceDraft& draft, Alone& alone);
  Window guardPage() const;
  void clearGuards(DeviceAccess& access);
  void noteStrayWrite(const KernelInfo& info, DeviceAccess& access);
  void submitLater(const Attempt& attempt, DeviceAccess& access, artifact::InstanceDraft draft);
  DeviceAccess& accessOf(const WorkPlace& place);
  std::chrono::nanoseconds kernelPatience() const noexcept;
  std::chrono::nanoseconds busyPatience() const noexcept;
  bool waitBefore(const Attempt& attempt, const mneme_launch& launch);
  bool isIdleInside(const Attempt& attempt, Alone& alone);
  bool launchAndWait(Attempt& attempt, const mneme_launch& launch, DeviceAccess& access,
                     artifact::Instance& instance, Alone& alone);
  void giveUp(const KernelInfo& info, const mneme_launch& launch);
  bool goesOn(unsigned device);
  void noteWork(unsigned device, void* mark) noexcept;
  void forgetWork(unsigned device) noexcept;
  void addHiddenGlobals(const KernelInfo& info, const void* kernel,
                        std::vector<artifact::Region>& regions);
  std::vector<artifact::Region> certainRegions(const KernelInfo& info, const mneme_launch& launch,
                                               DeviceAccess& access);
  void addMapped(const MappedMemory& mapped, DeviceAccess& access,
                 std::vector<artifact::Region>& candidates);
  Reach reachOf(const KernelInfo& info, const mneme_launch& launch,
                const std::vector<artifact::Region>& certain,
                const std::optional<artifact::Region>& heap, DeviceAccess& access);
  Reach::OnDemand pageableFor(const KernelInfo& info, DeviceAccess& access);
  void addArguments(const KernelInfo& info, const mneme_launch& launch, Reach& reach,
                    DeviceAccess& access, std::vector<artifact::Region>& regions);
  void noteUnrecorded(const KernelInfo& info, const mneme_launch& launch,
                      const std::vector<artifact::Region>& regions);
  void takeTextures(const KernelInfo& info, const mneme_launch& launch, bool isSurface,
                    LaunchTextures& textures);
  void addTextures(const KernelInfo& info, const mneme_launch& launch, LaunchTextures& textures);
  std::shared_ptr<LaunchTextures> texturesOf(const Attempt& attempt, const mneme_launch& launch);
  void findHeap(const KernelInfo& info, const mneme_launch& launch);
  std::optional<artifact::Region> askForHeap(const WorkPlace& place);
  std::optional<artifact::Region> heapFor(const Attempt& attempt);
  void addMemoryOf(const KernelInfo& info, const std::vector<TextureObject>& textures, Reach& reach,
                   DeviceAccess& access, std::vector<artifact::Region>& regions);
  void addUnseen(const KernelInfo& info, const std::vector<uint64_t>& words, DeviceAccess& access,
                 std::vector<artifact::Region>& regions);
  bool isReadable(const artifact::Region& region, DeviceAccess& access) const;
  void addGlobals(const KernelInfo& info, const void* kernel,
                  std::vector<artifact::Region>& regions);
  void addCachePreference(const Attempt& attempt, const mneme_launch& launch,
                          artifact::Instance& instance);
  void announce(const KernelInfo& info);
  void settle(const Attempt& attempt, Fate fate, bool mayRetry);
  void settleLeft();
  artifact::RecordingWriter& writer();
  void startFinisher();
  bool askFinisher(Wish wish) noexcept;
  void serveFinisher() noexcept;
  void pause() noexcept;
  void write() noexcept;
  void resume() noexcept;
  void conclude();
  void finishTransfers() noexcept;
  void pushOccurrences();
  void pushNotes();
  void sayGoodbye(uint64_t finishNs, const std::vector<std::string>& graphs);

  pid_t owner_;
  Backend& backend_ = findBackend();
  Settings settings_;
  std::mutex directoryMutex_; ///< of the settings' directory
  std::unique_ptr<RecordedSections> sections_;
  Sharing sharing_;
  std::atomic<bool> isLeftToVendor_{false};
  LoadedModules loaded_;
  LiveTextures textures_;
  SetLimits limitsSet_;
  CacheConfigs cacheConfigs_;
  struct PlacesHeap {
    bool isAskedFor = false;               ///< by a thread that waits for the device
    std::optional<artifact::Region> found; ///< nothing if it was not found
  };
  std::mutex heapsMutex_;
  std::condition_variable heapAnswered_;
  std::map<WorkPlace, PlacesHeap> heaps_; ///< where kernels that allocate were launched
  std::unique_ptr<KernelCatalog> catalog_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<DeferredFrees> deferredFrees_;
  std::unique_ptr<GraphBlocks> graphBlocks_;
  std::mutex accessMutex_;
  std::map<WorkPlace, std::unique_ptr<DeviceAccess>> accesses_;
  CaptureHistory history_;
  SearchHistory searches_;
  std::unique_ptr<GlobalPlaces> globals_;
  ExecutableGraphs graphs_;
  KeptGraphs keptGraphs_;
  bool hasEndHandler_ = false;
  bool hasSeenModules_ = false; ///< when the session began
  std::unique_ptr<artifact::RecordingWriter> writer_;
  std::atomic<bool> isActive_{false};
  std::atomic<bool> hasDeviceFailed_{false};
  Gate gate_;
  std::atomic<bool> isCallStuck_{false}; ///< in another thread, at the last recording
  bool isMemoryWhole_ = true; ///< false in a child forked while another thread changed it
  std::mutex labelsMutex_;
  std::map<std::vector<std::string>, bool> wantedLabels_;
  std::mutex notesMutex_;
  std::map<std::string, uint64_t> notes_;
  std::map<std::string, uint64_t> pushedNotes_;
  std::set<const void*> notedOnce_;
  /// Handles of which the vendor does not tell whose they are, since code was last loaded.
  std::set<const void*> unowned_;
  std::shared_mutex unloading_;
  std::atomic<uint64_t> launches_{0};
  std::atomic<bool> hasFinisher_{false};
  std::atomic<bool> isVendorEnding_{false};
  std::atomic<bool> isTransferLost_{false}; ///< since the latest capture began
  std::atomic<Wish> wish_{Wish::Finish};
  bool isShutForPause_ = false;
  sem_t finishWanted_{};
  sem_t finishDone_{};
  /// The launch under capture. It is still set at the next launch if its thread has left it by
  /// longjmp.
  std::optional<Attempt> underWay_;
  std::atomic<bool> isUnderWay_{false};
  std::atomic<uint64_t> longestKernelNs_{0}; ///< of the recorded kernels
  std::atomic<bool> wasDeviceBusy_{false};   ///< whether the wait before a launch timed out
  std::mutex workMutex_;
  /// Devices that are still busy after a wait that timed out, each with a mark behind that work, or
  /// null.
  std::map<unsigned, void*> work_;
  uint64_t captureNs_ = 0;
  uint64_t launchNs_ = 0;              ///< the part of captureNs_ that the kernels themselves take
  std::optional<WorkPlace> lastPlace_; ///< of the previous capture
  WorkPlace place_;                    ///< of the launch under capture
};

/// Made around every call of the application that changes allocations or the content of memory.
/// While one lives, no capture is under way.
class CallGuard {
public:
  CallGuard() noexcept(false); // a thread may be cancelled before it is kept from it
  ~CallGuard() noexcept(false);
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;
  /// Returns the session, whose memory() is not null. Returns null if the call must be passed on
  /// unchanged: this process never recorded, or the call comes from inside another one.
  Session* session() const noexcept { return session_; }

private:
  DeferredCancellation cancellation_; // also while the thread waits to get in
  Session* session_ = nullptr;
  std::optional<Call> call_;
};

} // namespace mneme::record
