#include "runtime/recorder/session.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/given_pointers.h"
#include "runtime/recorder/inside_call.h"
#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/pageable_memory.h"
#include "runtime/recorder/process_facts.h"
#include "runtime/recorder/ranks.h"
#include "runtime/recorder/summary.h"

namespace mneme::record {
namespace {

std::atomic<Session*> theSession{nullptr};

/// Freed device memory kept for reuse; libraries that allocate past us need the rest.
constexpr uint64_t kIdleBytesKept = 1ull << 30;

// Most instances of a kernel that are counted although they came before the first recorded one.
constexpr size_t kMostPassed = 65'536;

constexpr size_t kMostLabels = 32; ///< of one launch

// How long a recording waits to be alone when another thread's call does not end (a jump may have
// left it). Stuck: the recording before this one waited in vain.
constexpr std::chrono::seconds kCallPatience{15}, kStuckPatience{1};

/// Returns the labels that the calling thread is in, the outermost first.
std::vector<std::string> labelsOfThread() {
  const char* labels[kMostLabels];
  const size_t count = std::min(mneme_rt_labels(labels, kMostLabels), kMostLabels);
  std::vector<std::string> found;
  for (const char* label : std::span(labels, count))
    if (*label)
      found.emplace_back(label);
  return found;
}

artifact::Dim3 dims(const mneme_dim3& value) { return {value.x, value.y, value.z}; }

Memory::Options memoryOptions(Backend& backend, const Settings& settings) {
  Memory::Options options;
  options.windowBytes = settings.windowBytes;
  options.capturesVendors = !backend.isOwnRuntime();
  if (options.capturesVendors)
    options.idleBytesKept = kIdleBytesKept;
  if (settings.placement != Placement::Vendor || backend.isOwnRuntime())
    options.makeBackend = [&backend](unsigned device) { return backend.makeMemory(device); };
  return options;
}

} // namespace

CallGuard::CallGuard() noexcept(false) {
  if (isInsideCall())
    return;
  Session& session = Session::instance();
  if (!session.memory_ || !session.isMemoryWhole_)
    return;
  session.gate_.enter();
  call_.emplace(session.gate_, Call::Kind::Passing);
  session_ = &session;
}

CallGuard::~CallGuard() noexcept(false) = default;

Session& Session::instance() noexcept {
  static Session* session = new Session;
  return *session;
}

Session* Session::existing() noexcept { return theSession.load(std::memory_order_acquire); }

Session::Session() noexcept : owner_(getpid()) {
  try {
    settings_ = readSettings();
    if (!settings_.isRankRecorded) {
      const std::string remark = remarkOnRank(recordedRanks(), processRank(), rankCount());
      if (!remark.empty())
        notice(remark);
    } else {
      if (settings_.windowBytes == 0)
        settings_.windowBytes = backend_.windowBytes();
      hasSeenModules_ = hasModules();
      memory_ = std::make_unique<Memory>(memoryOptions(backend_, settings_));
      deferredFrees_ = std::make_unique<DeferredFrees>(backend_, *memory_);
      graphBlocks_ = std::make_unique<GraphBlocks>(backend_, *memory_);
      catalog_ = std::make_unique<KernelCatalog>(settings_, loaded_, backend_);
      globals_ = std::make_unique<GlobalPlaces>(backend_, *catalog_);
      sections_ = std::make_unique<RecordedSections>(settings_.sections);
      isActive_ = true;
    }
  } catch (const std::exception& error) {
    notice(error.what());
  }
  if (!isActive_)
    mneme_rt_set_hooks(nullptr);
  theSession.store(this, std::memory_order_release);
}

bool Session::isOwner() const noexcept { return getpid() == owner_; }

void Session::note(const std::string& reason) noexcept {
  if (!isOwner())
    return; // a thread that does not exist here may have the lock
  try {
    const std::lock_guard lock(notesMutex_);
    ++notes_[reason];
  } catch (const std::exception&) { // no memory for a note: the application matters more
  }
}

void Session::noteOnce(const char* reason, const void* key) noexcept {
  try {
    const std::lock_guard lock(notesMutex_);
    if (notedOnce_.insert(key).second)
      ++notes_[reason];
  } catch (const std::exception&) { // as above
  }
}

void Session::moduleUnregistered(const mneme_module_entry* module) noexcept {
  try {
    if (catalog_)
      catalog_->forget(module);
    if (globals_)
      globals_->forgetAll();
    // Its own are not known any more. Others that are not known may be its, too.
    cacheConfigs_.forgetIf([&](const WorkPlace&, const void* kernel) {
      return !loaded_.firstHandle(kernel) && !mneme_rt_find_kernel(kernel, nullptr, nullptr);
    });
  } catch (const std::exception& error) {
    note(sentence("an unloaded library may be mistaken for another: ", error.what()));
  }
}

/// Whether a launch is one of those that pass before the first that is recorded; it is counted.
bool Session::passesFirst(KernelState& state, const LaunchShapes::Match& shape) const {
  if (shape.isWanted && state.skipped < settings_.skipRecordings)
    return ++state.skipped;
  if (shape.first == 0)
    return false;
  uint64_t& passed = state.passed[shape.entry];
  return passed < shape.first && ++passed;
}

/// By the labels of the calling thread.
bool Session::isWantedHere(const KernelInfo& info) { return isWantedNow(info, labelsOfThread()); }

/// Whether kernels may read memory there.
bool Session::mayBePointer(uint64_t word) const {
  return memory_->isInAllocation(word) ||
         (mayBeAddress(word) && backend_.usesPageable() && isHostReadable(word));
}

Session::Attempt Session::decide(const mneme_launch& launch, const LaunchTraits* traits) {
  Attempt attempt;
  attempt.info = catalog_->find(launch.kernel);
  const KernelInfo* info = attempt.info.get();
  if (!info)
    return attempt;
  findHeap(*info, launch);
  attempt.labels = labelsOfThread();
  attempt.isWanted = isWantedNow(*info, attempt.labels);
  if (!attempt.isWanted)
    return attempt;
  if (!info->state) {
    note(info->whyNot);
    return attempt;
  }
  if (traits)
    attempt.traits = *traits;
  else if (launch.form != MNEME_LAUNCH_PLAIN)
    attempt.traits = backend_.traitsOf(launch);
  attempt.dynamicHash = dynamicHash(*info->blob, launch, attempt.traits,
                                    [this](uint64_t word) { return mayBePointer(word); });
  KernelState& state = *info->state;
  const LaunchShapes::Match shape = settings_.shapes.match(info->blob->kernel, launch);
  attempt.shape = shape.entry;
  const std::lock_guard lock(state.mutex);
  const bool passes = passesFirst(state, shape);
  const auto known = state.instances.find(attempt.dynamicHash);
  if (known != state.instances.end() && (passes || known->second.fate != Fate::Passed)) {
    ++known->second.occurrences;
  } else if (!shape.isWanted || state.isGivenUp) {
    return attempt;
  } else if (passes) {
    if (state.instances.size() < kMostPassed)
      state.instances[attempt.dynamicHash] = {Fate::Passed, 1};
  } else if (uint64_t& recorded = state.recorded[shape.entry];
             // Each of several shapes gets its part, at least one.
             recorded < shape.share(settings_.maxRecordings)) {
    ++recorded;
    KernelState::Instance& instance = state.instances[attempt.dynamicHash];
    instance.fate = Fate::Recorded;
    ++instance.occurrences;
    attempt.isRecorded = true;
  }
  return attempt;
}

void Session::settle(const Attempt& attempt, Fate fate, bool mayRetry) {
  KernelState& state = *attempt.info->state;
  const std::lock_guard lock(state.mutex);
  --state.recorded[attempt.shape];
  if (mayRetry)
    state.instances.erase(attempt.dynamicHash);
  else
    state.instances[attempt.dynamicHash].fate = fate;
}

/// Notes the launch that is being recorded. If the thread leaves it by a jump, the note stays
/// (settleLeft()).
class Session::UnderWay {
public:
  UnderWay(Session& session, const Attempt& attempt) : session_(session) {
    session.underWay_ = attempt;
    session.isUnderWay_ = true;
  }
  ~UnderWay() {
    session_.underWay_.reset();
    session_.isUnderWay_ = false;
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

private:
  Session& session_;
};

/// Counts a launch for session and kernel, once. Only inside the gate, so that the summary is true.
void Session::count(Attempt& attempt) {
  if (!isActive() || std::exchange(attempt.isCounted, true))
    return;
  launches_.fetch_add(1, std::memory_order_relaxed);
  if (!attempt.isWanted || !attempt.info->state)
    return;
  const std::lock_guard lock(attempt.info->state->mutex);
  ++attempt.info->state->launches;
}

/// Ends a recording that its thread has left by a jump.
void Session::settleLeft() {
  if (!underWay_)
    return;
  const Attempt left = *std::exchange(underWay_, std::nullopt);
  isUnderWay_ = false;
  note("kernel '" + left.info->blob->shownName() +
       "' was not recorded: its thread left the launch by a jump (longjmp) or ended in it");
  history_.forgetAll();
  settle(left, Fate::Failed, false);
}

/// Whether the launch becomes a part of a graph, whose launches count.
bool Session::isCaptured(const mneme_launch& launch) const noexcept {
  void* const stream = isCapturingAny() ? backend_.streamOf(launch) : nullptr;
  return stream && backend_.capturing(stream) == Capturing::Yes;
}

int Session::launch(const mneme_launch& launch) {
  if (isInsideCall() || !isActive() || isCaptured(launch))
    return mneme_rt_call_vendor(&launch);
  Attempt attempt;
  {
    const CallGuard guard;
    try {
      if (isActive())
        attempt = decide(launch);
    } catch (const std::exception& error) {
      note(sentence("a launch could not be recorded: ", error.what()));
    }
    if (!attempt.isRecorded)
      return pass(attempt, launch);
  }
  return make(attempt, launch);
}

/// Inside the gate.
int Session::pass(Attempt& attempt, const mneme_launch& launch) {
  count(attempt);
  const CancellationOfCaller asCaller;
  return mneme_rt_call_vendor(&launch);
}

/// Makes a launch after it was decided whether it is recorded.
int Session::make(Attempt& attempt, const mneme_launch& launch) {
  try {
    if (attempt.isRecorded)
      record(attempt, launch);
  } catch (const std::exception& error) {
    note(sentence("a launch could not be recorded: ", error.what()));
  }
  if (attempt.status)
    return *attempt.status;
  const CallGuard guard;
  return pass(attempt, launch);
}

std::string Session::whyNot(const Attempt& attempt, const mneme_launch& launch) const {
  const std::string kernel = "kernel '" + attempt.info->blob->shownName() + "': ";
  if (isRuntimeLinkedStatically(launch.vendorEntry, backend_))
    return kernel + staticRuntime();
  if (const std::string reason = backend_.whyNot(); !reason.empty())
    return kernel + reason;
  void* const stream = backend_.streamOf(launch);
  if (stream && backend_.capturing(stream) == Capturing::Yes)
    return kernel + "launches captured into a graph cannot be recorded";
  if (isCapturingAny())
    return kernel + "launches cannot be recorded while another stream is captured into a graph";
  const std::string memory = memory_->whyNotCapturable();
  return memory.empty() ? "" : kernel + memory;
}

artifact::RecordingWriter& Session::writer() {
  if (!writer_) {
    artifact::WriterOptions options;
    options.directory = settings_.directory;
    options.epilogueFormat = settings_.epilogue;
    writer_ = std::make_unique<artifact::RecordingWriter>(options);
    startFinisher();
  }
  return *writer_;
}

void Session::announce(const KernelInfo& info) {
  KernelState& state = *info.state;
  if (state.isAnnounced)
    return;
  const unsigned device = place_.device;
  artifact::KernelRecord record =
      describeKernel(info, backend_.deviceName(static_cast<int>(device)));
  const Window window = memory_->window(device);
  record.windowAddress = window.address;
  record.windowBytes = window.sizeBytes;
  std::vector<std::vector<std::byte>> code = recordedCode(info);
  addCompilersCode(info, record, code);
  writer().addKernel(record, code);
  state.isAnnounced = true;
  if (const std::string reads = warningOfReads(info, record.device, backend_.textures() != nullptr);
      !reads.empty())
    note(reads);
}

/// Prologue, launch, epilogue. The whole device is synchronised before, not only the launch's
/// stream: work of other streams may write to the same memory, and there is no way to know which.
/// Returns false, and logs why, if there is nothing to keep.
bool Session::captureAround(Attempt& attempt, const mneme_launch& launch, AtPlace& there,
                            artifact::InstanceDraft& draft, Alone& alone) {
  const KernelInfo& info = *attempt.info;
  DeviceAccess& access = accessOf(place_);
  if (PageableMemory* pageable = access.pageable())
    pageable->look();
  if (!isIdleInside(attempt, alone))
    return false;
  // Places bring their content to the host one by one, and a draft may be based on another's.
  if (std::exchange(lastPlace_, place_) != place_)
    finishTransfers();
  if (isTransferLost_.exchange(false))
    history_.forgetAll();
  Capture capture(access, writer(), history_);
  const std::shared_ptr<LaunchTextures> textures = texturesOf(attempt, launch);
  textures->fetch();
  draft.instance.textures = textures->descriptions();
  std::vector<artifact::Region> regions = certainRegions(info, launch, access);
  addGlobalsOfGraph(attempt, regions);
  const std::optional<artifact::Region> heap = heapFor(attempt);
  Reach reach = reachOf(info, launch, regions, heap, access);
  addArguments(info, launch, reach, access, regions);
  addArgumentsOfGraph(attempt, launch, reach, access, regions);
  addMemoryOf(info, draft.instance.textures, reach, access, regions);
  draft.prologue = capture.take(regions, &reach);
  regions.clear();
  for (const artifact::RegionDraft& region : draft.prologue.regions) {
    regions.push_back(region.region);
    if (heap && heap->address == region.region.address)
      draft.instance.heap = {heap->address, heap->sizeBytes};
  }
  draft.prologue.args = argumentValues(*info.blob, launch);
  clearGuards(access);
  there.leave(); // where the program launches, default streams are others
  if (!launchAndWait(attempt, launch, access, draft.instance, alone)) {
    if (attempt.status.value_or(0) == 0) // it was launched
      textures->abandon();
    return false; // the vendor's runtime may keep the error of the latest call alone
  }
  there.enter();
  noteStrayWrite(info, access);
  textures->fetch();
  draft.epilogue = capture.take(regions);
  history_.forgetOlderThan(draft.prologue.id);
  return true;
}

/// Hands a draft to the writer once its content has left the device.
void Session::submitLater(const Attempt& attempt, DeviceAccess& access,
                          artifact::InstanceDraft draft) {
  // Before the launch returns: from then on the process may be killed any time.
  writer_->enterTaken(attempt.info->blob->staticHash, attempt.info->blob->demangled, draft);
  access.afterwards(
      [this, attempt, content = std::make_shared<artifact::InstanceDraft>(std::move(draft))](
          std::exception_ptr failure) {
        try {
          if (failure)
            std::rethrow_exception(failure);
          writer_->submit(attempt.info->blob->staticHash, std::move(*content));
        } catch (const std::exception& error) {
          isTransferLost_ = true;
          note(sentence("kernel '", attempt.info->blob->shownName(), "' was not recorded, ",
                        formatBytes(artifact::memoryBytes(content->prologue)),
                        " of memory were lost: ", error.what()));
          settle(attempt, Fate::Failed, false);
        }
      });
}

void Session::record(Attempt& attempt, const mneme_launch& launch) {
  const DeferredCancellation cancellation;
  if (whyNot(attempt, launch).empty() && !waitBefore(attempt, launch))
    return;
  const bool wasStuck = isCallStuck_;
  Alone alone(gate_, wasStuck ? kStuckPatience : kCallPatience, Alone::Signals::Held);
  if (!isActive())
    return settle(attempt, Fate::Failed, false);
  isCallStuck_ = !alone.isAlone();
  if (!alone.isAlone()) {
    note("kernel '" + attempt.info->blob->shownName() +
         "' was not recorded: calls of the runtime in other threads did not end");
    return settle(attempt, Fate::Failed, !wasStuck);
  }
  settleLeft();
  if (const std::string reason = whyNot(attempt, launch); !reason.empty()) {
    note(reason);
    return settle(attempt, Fate::Failed, true);
  }
  count(attempt);
  const UnderWay underWay(*this, attempt);
  recordAlone(attempt, launch, alone);
}

void Session::recordAlone(Attempt& attempt, const mneme_launch& launch, Alone& alone) {
  const uint64_t begin = nowNs();
  try {
    artifact::InstanceDraft draft;
    draft.instance.part = backend_.partOf(launch);
    place_ = backend_.placeOfLaunch(launch);
    AtPlace there(backend_, place_);
    if (!there.isThere() && backend_.prepareContext()) // which may make it
      there.enter();
    if (!there.isThere() || !backend_.prepareContext())
      throw Error(ErrorCode::Unsupported, "the recorder cannot work where it is launched");
    DeviceAccess& access = accessOf(place_);
    backend_.prepareKernel(attempt.info->placeOf(launch.kernel));
    announce(*attempt.info);
    draft.instance.limits = backend_.limits(limitsSet_.of(place_));
    draft.instance.dynamicHash = attempt.dynamicHash;
    draft.instance.grid = dims(launch.grid);
    draft.instance.block = dims(launch.block);
    draft.instance.sharedBytes = launch.sharedBytes;
    draft.instance.isCooperative = attempt.traits.isCooperative;
    draft.instance.cluster = dims(attempt.traits.cluster);
    addCachePreference(attempt, launch, draft.instance);
    draft.instance.labels = attempt.labels;
    if (captureAround(attempt, launch, there, draft, alone)) {
      if (attempt.companions)
        keptGraphs_.setTime(attempt.info->blob->staticHash, attempt.dynamicHash,
                            draft.instance.recordedNs);
      submitLater(attempt, access, std::move(draft));
      if (isVendorEnding_)
        access.finish();
    } else {
      history_.forgetAll();
      settle(attempt, Fate::Failed, false);
    }
  } catch (...) {
    history_.forgetAll();
    settle(attempt, Fate::Failed, false);
    captureNs_ += nowNs() - begin;
    throw;
  }
  captureNs_ += nowNs() - begin;
}

} // namespace mneme::record
