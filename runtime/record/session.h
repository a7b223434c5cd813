// Room record: one recording session, from the first call of the vendor's runtime to the end of the
// process.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include <semaphore.h>
#include <sys/types.h>

#include "runtime/artifact/writer.h"
#include "runtime/jit/mneme_rt.h"
#include "runtime/record/capture.h"
#include "runtime/record/deferred_frees.h"
#include "runtime/record/kernel_catalog.h"
#include "runtime/record/memory.h"
#include "runtime/record/settings.h"
#include "runtime/record/vendor.h"

namespace mneme::record {

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
  int launch(const mneme_launch& launch) noexcept;
  void moduleUnregistered(const mneme_module_entry* module) noexcept;

  /// Null in a process that never recorded. Frees are served even when recording has ended.
  Memory* memory() noexcept { return memory_.get(); }
  const Vendor* vendor() const noexcept { return vendor_; }
  /// Frees that wait for work on a stream; as memory().
  DeferredFrees* deferredFrees() noexcept { return deferredFrees_.get(); }
  /// The device is about to lose everything: forgets what the recorder holds on it.
  void forgetDevice(unsigned device) noexcept;
  /// For an allocation of the application that found no device memory left.
  void giveBackDeviceMemory() noexcept;

  /// Notes something that is not recorded; notes are counted per reason.
  void note(const std::string& reason) noexcept;
  /// As note(), at the first call with this key only.
  void noteOnce(const char* reason, const void* key) noexcept;

  /// The vendor is about to shut down: what is on its way from a device is waited for, now and
  /// after every later launch.
  void vendorEnds() noexcept;
  /// Writes everything, says the summary and stops recording. Idempotent.
  void finish() noexcept;
  /// Lets a thread of the recorder finish() and waits for it, some seconds at most. Takes no lock:
  /// may be called from a signal handler.
  void finishElsewhere() noexcept;

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
    bool isRecorded = false;
    std::optional<int> status; ///< of the vendor's call, once made
  };

  Session() noexcept;
  Attempt decide(const mneme_launch& launch);
  std::string whyNot(const Attempt& attempt, const mneme_launch& launch) const;
  void record(Attempt& attempt, const mneme_launch& launch);
  bool captureAround(Attempt& attempt, const mneme_launch& launch, DeviceAccess& access,
                     artifact::InstanceDraft& draft);
  void submitLater(const Attempt& attempt, DeviceAccess& access, artifact::InstanceDraft draft);
  artifact::Region globalAt(uint64_t pointer) const;
  DeviceAccess& accessOf(unsigned device);
  bool launchAndWait(Attempt& attempt, const mneme_launch& launch, DeviceAccess& access,
                     artifact::Instance& instance);
  void addHiddenGlobals(const KernelInfo& info, const void* kernel,
                        std::vector<artifact::Region>& regions);
  std::vector<artifact::Region> regionsOf(const KernelInfo& info, const mneme_launch& launch,
                                          DeviceAccess& access);
  void addGlobals(const KernelInfo& info, const void* kernel,
                  std::vector<artifact::Region>& regions);
  void announce(const KernelInfo& info);
  void settle(const Attempt& attempt, Fate fate, bool mayRetry);
  artifact::RecordingWriter& writer();
  void startFinisher();
  void finishTransfers() noexcept;
  void pushOccurrences();
  void sayGoodbye(uint64_t finishNs);

  pid_t owner_;
  const Vendor* vendor_ = nullptr;
  Settings settings_;
  std::unique_ptr<KernelCatalog> catalog_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<DeferredFrees> deferredFrees_;
  std::mutex accessMutex_;
  std::map<unsigned, std::unique_ptr<DeviceAccess>> accesses_;
  CaptureHistory history_;
  bool hasEndHandler_ = false;
  bool hasSeenModules_ = false; ///< when the session began
  std::unique_ptr<artifact::RecordingWriter> writer_;
  std::atomic<bool> isActive_{false};
  std::atomic<bool> hasDeviceFailed_{false};
  std::shared_timed_mutex gate_; ///< shared: calls of the application; unique: a capture
  std::mutex notesMutex_;
  std::map<std::string, uint64_t> notes_;
  std::set<const void*> notedOnce_;
  std::atomic<uint64_t> launches_{0};
  std::atomic<bool> hasFinisher_{false};
  std::atomic<bool> isVendorEnding_{false};
  std::atomic<bool> isTransferLost_{false}; ///< since the latest capture began
  sem_t finishWanted_{};
  sem_t finishDone_{};
  uint64_t captureNs_ = 0;
  uint64_t launchNs_ = 0; ///< of captureNs_, the kernels themselves
  int lastDevice_ = -1; ///< of the capture before
  int device_ = 0;        ///< current device of the launch under capture
};

/// Taken around every call of the application that changes what is allocated: while one lives, no
/// capture is under way.
class CallGuard {
public:
  CallGuard() noexcept;
  ~CallGuard();
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;
  /// The session, or null when the call is to be passed on as it is: this process never recorded,
  /// or the call comes from inside another one. A session's memory() is then not null.
  Session* session() const noexcept { return session_; }

private:
  Session* session_ = nullptr;
};

} // namespace mneme::record
