// Room record: one recording session, from the first call of the vendor's runtime to the end of the
// process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <semaphore.h>
#include <sys/types.h>

#include "runtime/abi/mneme_rt.h"
#include "runtime/artifact/writer.h"
#include "runtime/record/backend.h"
#include "runtime/record/capture.h"
#include "runtime/record/deferred_frees.h"
#include "runtime/record/global_places.h"
#include "runtime/record/inside_call.h"
#include "runtime/record/kernel_catalog.h"
#include "runtime/record/loaded_modules.h"
#include "runtime/record/memory.h"
#include "runtime/record/reach.h"
#include "runtime/record/settings.h"
#include "runtime/record/sharing.h"

namespace mneme::record {

struct CallOnDevices;
class Next;
class NextOf;

/// Everything the recorder knows. Made at the first use and never destroyed, because the
/// application's last destructors may still free memory or launch kernels. No public function
/// throws: what fails is noted, and the application's own call goes on.
class Session {
public:
  static Session& instance() noexcept;
  /// Null when nothing of the recorder was used yet.
  static Session* existing() noexcept;

  /// False when this process does not record (rank filter, bad settings, forked child, ended).
  bool isActive() const noexcept { return isActive_.load(std::memory_order_acquire); }

  /// After a kernel of the application failed, until the device is reset: allocations are the
  /// vendor's to refuse.
  bool hasDeviceFailed() const noexcept { return hasDeviceFailed_.load(std::memory_order_relaxed); }
  void setDeviceFailed(bool hasFailed) noexcept { hasDeviceFailed_ = hasFailed; }

  /// The launch hook: counts, records if it is time to, and calls the vendor. Returns its status.
  /// Throws nothing, but a thread that is cancelled in the vendor's call is unwound through it.
  int launch(const mneme_launch& launch);
  void moduleUnregistered(const mneme_module_entry* module) noexcept;

  /// One of the launches that a call makes on several devices.
  struct DeviceLaunch {
    mneme_launch launch{}; ///< by asRecorded()
    unsigned device = 0;
    const void* code = nullptr; ///< the same for all handles of a kernel
    bool isKnown = false;       ///< else it is not recorded, nor counted
  };
  /// The same for all launches of such a call (launches_on_devices.h).
  int launchOnDevices(std::span<const DeviceLaunch> launches, const CallOnDevices& call,
                      const Next& together, const NextOf& alone);

  // Code that the program loads itself.
  void moduleLoaded(std::shared_ptr<const LoadedModule> module) noexcept;
  /// What is known of it, which is forgotten; null if nothing is.
  std::shared_ptr<const LoadedModule> moduleUnloaded(void* handle) noexcept;
  void kernelAskedFor(const void* function, void* module, const char* name) noexcept;
  /// `function` is another handle of `kernel`, one of the program's own.
  void aliasAskedFor(const void* function, const void* kernel) noexcept;
  /// What a function's handle leads to; handle null where that is not known.
  struct FoundKernel {
    const void* handle = nullptr;
    std::shared_ptr<const KernelInfo> info;
  };
  FoundKernel findKernel(const void* function) noexcept;

  /// Whether the vendor places what is allocated now, as the program may share it with other
  /// processes; the summary says so.
  bool leavesToVendor() noexcept;
  /// From now on, unless the user wants all of it placed.
  void leaveToVendor() noexcept { isLeftToVendor_ = settings_.placement == Placement::Automatic; }

  /// Null in a process that never recorded. Frees are served even when recording has ended.
  Memory* memory() noexcept { return memory_.get(); }
  Backend& backend() const noexcept { return backend_; }
  /// Frees that wait for work on a stream; as memory().
  DeferredFrees* deferredFrees() noexcept { return deferredFrees_.get(); }
  /// The device is about to lose everything: forgets what the recorder holds on it.
  void forgetDevice(unsigned device) noexcept;
  /// For an allocation of the application that found no device memory left.
  void giveBackDeviceMemory() noexcept;
  /// Device memory that would be free without the recorder, its window aside.
  uint64_t ownDeviceBytes(unsigned device) noexcept;

  /// Notes something that is not recorded; notes are counted per reason.
  void note(const std::string& reason) noexcept;
  /// As note(), at the first call with this key only.
  void noteOnce(const char* reason, const void* key) noexcept;

  /// The vendor is about to shut down: what is on its way from a device is waited for, now and
  /// after every later launch.
  void vendorEnds() noexcept;
  /// Writes everything, says the summary and stops recording. Idempotent.
  void finish() noexcept;
  /// Lets a thread of the recorder finish() and waits for it as long as it gets on. Takes no lock:
  /// may be called from a signal handler. False if there is no such thread, or no more.
  bool finishElsewhere() noexcept;

  /// Lets that thread write what was taken so far, and waits as above; the recording goes on. May
  /// be called from a signal handler.
  void writeElsewhere() noexcept;

  /// Before the program is replaced by another, which may fail: as finishElsewhere(), and calls of
  /// other threads wait until resume(). False if there is nothing to resume.
  bool pauseElsewhere() noexcept;
  void resumeElsewhere() noexcept;

  /// fork(): the parent goes on, the child does not record.
  void beforeFork() noexcept;
  void afterForkInParent() noexcept;
  void afterForkInChild() noexcept;
  /// False in a forked or vforked child.
  bool isOwner() const noexcept;

private:
  friend class CallGuard;
  struct Attempt {
    std::shared_ptr<const KernelInfo> info;
    LaunchTraits traits;
    uint64_t dynamicHash = 0;
    size_t shape = 0; ///< the entry of Settings::shapes
    bool isRecorded = false;
    bool isCounted = false;
    std::optional<int> status; ///< of the vendor's call, once made
  };
  class UnderWay;
  static const char* const kDeviceBusy; ///< the end of a note
  enum class Wish : uint8_t { Finish, Pause, Resume, Write };

  Session() noexcept;
  bool passesFirst(KernelState& state, const LaunchShapes::Match& shape) const;
  Attempt decide(const mneme_launch& launch);
  Attempt decideApart(const DeviceLaunch& one, bool isCooperative);
  bool decideAll(std::span<const DeviceLaunch> launches, bool isCooperative,
                 std::vector<Attempt>& attempts) noexcept;
  void dropRecording(Attempt& attempt, const char* why, bool mayRetry) noexcept;
  int makeTogether(std::vector<Attempt>& attempts, const Next& together);
  void orderBehind(std::span<const DeviceLaunch> launches) noexcept;
  int makeAlone(Attempt& attempt, const DeviceLaunch& one, const Next& alone);
  int pass(Attempt& attempt, const mneme_launch& launch);
  int make(Attempt& attempt, const mneme_launch& launch);
  void count(Attempt& attempt);
  std::string whyNot(const Attempt& attempt, const mneme_launch& launch) const;
  void noteFailedBefore(const Attempt& attempt, int status) noexcept;
  void record(Attempt& attempt, const mneme_launch& launch);
  void recordAlone(Attempt& attempt, const mneme_launch& launch, Alone& alone);
  bool captureAround(Attempt& attempt, const mneme_launch& launch, DeviceAccess& access,
                     artifact::InstanceDraft& draft, Alone& alone);
  void clearGuards(DeviceAccess& access);
  void noteStrayWrite(const KernelInfo& info, DeviceAccess& access);
  void submitLater(const Attempt& attempt, DeviceAccess& access, artifact::InstanceDraft draft);
  DeviceAccess& accessOf(unsigned device);
  std::chrono::nanoseconds kernelPatience() const noexcept;
  std::chrono::nanoseconds busyPatience() const noexcept;
  bool waitBefore(const Attempt& attempt);
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
  Reach reachOf(const KernelInfo& info, const mneme_launch& launch,
                const std::vector<artifact::Region>& certain, DeviceAccess& access);
  void addArguments(const KernelInfo& info, const mneme_launch& launch, Reach& reach,
                    DeviceAccess& access, std::vector<artifact::Region>& regions);
  void addUnseen(const KernelInfo& info, const std::vector<uint64_t>& words, DeviceAccess& access,
                 std::vector<artifact::Region>& regions);
  bool isReadable(const artifact::Region& region, DeviceAccess& access) const;
  void addGlobals(const KernelInfo& info, const void* kernel,
                  std::vector<artifact::Region>& regions);
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
  void sayGoodbye(uint64_t finishNs);

  pid_t owner_;
  Backend& backend_ = findBackend();
  Settings settings_;
  Sharing sharing_;
  std::atomic<bool> isLeftToVendor_{false};
  LoadedModules loaded_;
  std::unique_ptr<KernelCatalog> catalog_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<DeferredFrees> deferredFrees_;
  std::mutex accessMutex_;
  std::map<unsigned, std::unique_ptr<DeviceAccess>> accesses_;
  CaptureHistory history_;
  SearchHistory searches_;
  std::unique_ptr<GlobalPlaces> globals_;
  bool hasEndHandler_ = false;
  bool hasSeenModules_ = false; ///< when the session began
  std::unique_ptr<artifact::RecordingWriter> writer_;
  std::atomic<bool> isActive_{false};
  std::atomic<bool> hasDeviceFailed_{false};
  Gate gate_;
  std::atomic<bool> isCallStuck_{false}; ///< in another thread, when a recording began last
  bool isMemoryWhole_ = true; ///< false in a child forked while another thread changed it
  std::mutex notesMutex_;
  std::map<std::string, uint64_t> notes_;
  std::map<std::string, uint64_t> pushedNotes_;
  std::set<const void*> notedOnce_;
  std::atomic<uint64_t> launches_{0};
  std::atomic<bool> hasFinisher_{false};
  std::atomic<bool> isVendorEnding_{false};
  std::atomic<bool> isTransferLost_{false}; ///< since the latest capture began
  std::atomic<Wish> wish_{Wish::Finish};
  bool isShutForPause_ = false;
  sem_t finishWanted_{};
  sem_t finishDone_{};
  /// The launch under capture: still here at the next one if its thread has jumped out of it.
  std::optional<Attempt> underWay_;
  std::atomic<bool> isUnderWay_{false};
  std::atomic<uint64_t> longestKernelNs_{0}; ///< of those recorded
  std::atomic<bool> wasDeviceBusy_{false};   ///< when it was waited for before a launch
  std::mutex workMutex_;
  /// Of devices that do what was waited for in vain: a mark behind it, or null.
  std::map<unsigned, void*> work_;
  uint64_t captureNs_ = 0;
  uint64_t launchNs_ = 0; ///< of captureNs_, the kernels themselves
  int lastDevice_ = -1;   ///< of the capture before
  int device_ = 0;        ///< current device of the launch under capture
};

/// Taken around every call of the application that changes what is allocated or what is in memory:
/// while one lives, no capture is under way.
class CallGuard {
public:
  CallGuard() noexcept(false); // a thread may be cancelled before it is kept from it
  ~CallGuard() noexcept(false);
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;
  /// The session, or null when the call is to be passed on as it is: this process never recorded,
  /// or the call comes from inside another one. A session's memory() is then not null.
  Session* session() const noexcept { return session_; }

private:
  DeferredCancellation cancellation_; // also while the thread waits to get in
  Session* session_ = nullptr;
  std::optional<Call> call_;
};

} // namespace mneme::record
