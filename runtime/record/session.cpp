#include "runtime/record/session.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/record/capture.h"
#include "runtime/record/inside_call.h"
#include "runtime/record/process_facts.h"
#include "runtime/record/served_memory.h"
#include "runtime/record/summary.h"

namespace mneme::record {
namespace {

std::atomic<Session*> theSession{nullptr};

artifact::Dim3 dims(const mneme_dim3& value) { return {value.x, value.y, value.z}; }

} // namespace

CallGuard::CallGuard() noexcept {
  if (isInsideCall)
    return;
  Session& session = Session::instance();
  if (!session.memory_)
    return;
  session.gate_.lock_shared();
  isInsideCall = true;
  session_ = &session;
}

CallGuard::~CallGuard() {
  if (!session_)
    return;
  isInsideCall = false;
  session_->gate_.unlock_shared();
}

Session& Session::instance() noexcept {
  static Session* session = new Session;
  return *session;
}

Session* Session::existing() noexcept { return theSession.load(std::memory_order_acquire); }

Session::Session() noexcept : owner_(getpid()) {
  try {
    settings_ = readSettings();
    if (settings_.isRankRecorded) {
      vendor_ = findVendor();
      const bool canPlace = vendor_ && vendor_->isCpuDevice;
      memory_ =
          std::make_unique<Memory>(canPlace ? makeHostBackend() : nullptr, settings_.windowBytes);
      catalog_ = std::make_unique<KernelCatalog>(settings_);
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
  try {
    const std::lock_guard lock(notesMutex_);
    ++notes_[reason];
  } catch (const std::exception&) { // no memory for a note: the application matters more
  }
}

void Session::moduleUnregistered(const mneme_module_entry* module) noexcept {
  try {
    if (catalog_)
      catalog_->forget(module);
  } catch (const std::exception& error) {
    note(std::string("an unloaded library may be mistaken for another: ") + error.what());
  }
}

Session::Attempt Session::decide(const mneme_launch& launch) {
  Attempt attempt;
  attempt.info = catalog_->find(launch.kernel);
  const KernelInfo* info = attempt.info.get();
  if (!info || !info->isWanted)
    return attempt;
  if (!info->state) {
    note(info->whyNot);
    return attempt;
  }
  if (launch.form != MNEME_LAUNCH_PLAIN && vendor_ && vendor_->launchTraits)
    attempt.traits = vendor_->launchTraits(launch);
  attempt.dynamicHash = dynamicHash(*info->blob, launch, attempt.traits.isCooperative);
  KernelState& state = *info->state;
  const std::lock_guard lock(state.mutex);
  const auto known = state.instances.find(attempt.dynamicHash);
  if (known != state.instances.end()) {
    ++known->second.occurrences;
  } else if (state.skipped < settings_.skipRecordings) {
    ++state.skipped;
    state.instances[attempt.dynamicHash] = {Fate::Skipped, 1};
  } else if (state.recorded < settings_.maxRecordings) {
    ++state.recorded;
    state.instances[attempt.dynamicHash] = {Fate::Recorded, 1};
    attempt.isRecorded = true;
  }
  return attempt;
}

void Session::settle(const Attempt& attempt, Fate fate, bool mayRetry) {
  KernelState& state = *attempt.info->state;
  const std::lock_guard lock(state.mutex);
  --state.recorded;
  if (mayRetry)
    state.instances.erase(attempt.dynamicHash);
  else
    state.instances[attempt.dynamicHash].fate = fate;
}

int Session::launch(const mneme_launch& launch) noexcept {
  if (isInsideCall || !isActive())
    return mneme_rt_call_vendor(&launch);
  launches_.fetch_add(1, std::memory_order_relaxed);
  Attempt attempt;
  try {
    attempt = decide(launch);
    if (attempt.isRecorded)
      record(attempt, launch);
  } catch (const std::exception& error) {
    note(std::string("a launch could not be recorded: ") + error.what());
  }
  if (attempt.status)
    return *attempt.status;
  const CallGuard guard;
  return mneme_rt_call_vendor(&launch);
}

std::string Session::whyNot(const Attempt& attempt, const mneme_launch& launch) const {
  const std::string kernel = "kernel '" + attempt.info->blob->demangled + "': ";
  if (isRuntimeLinkedStatically(launch.vendorEntry, vendor_))
    return kernel + kStaticRuntime;
  if (!vendor_)
    return kernel + "no shared vendor runtime is loaded in this process";
  if (attempt.traits.hasCluster)
    return kernel + "launches with clusters of several blocks cannot be recorded";
  if (isCapturingGraph(vendor_, launch.stream))
    return kernel + "launches captured into a graph cannot be recorded";
  const std::string memory = memory_->whyNotCapturable();
  return memory.empty() ? "" : kernel + memory;
}

artifact::RecordingWriter& Session::writer() {
  if (!writer_) {
    artifact::WriterOptions options;
    options.directory = settings_.directory;
    options.epilogueFormat = settings_.epilogue;
    options.compressionThreads = std::clamp(std::thread::hardware_concurrency() / 4, 1u, 8u);
    writer_ = std::make_unique<artifact::RecordingWriter>(options);
    startFinisher();
  }
  return *writer_;
}

void Session::announce(const KernelInfo& info) {
  KernelState& state = *info.state;
  if (state.isAnnounced)
    return;
  artifact::KernelRecord record = describeKernel(
      info, vendor_->isCpuDevice ? "cpu" : vendor_->deviceKind + (":" + std::to_string(device_)));
  const Window window = memory_->window(static_cast<unsigned>(device_));
  record.windowAddress = window.address;
  record.windowBytes = window.sizeBytes;
  std::vector<std::vector<std::byte>> modules;
  for (const auto& module : info.modules)
    modules.push_back(module->bitcode);
  writer().addKernel(record, modules);
  for (const std::string& name : info.hiddenGlobals)
    if (!vendor_->visitGlobals)
      note("device variable '" + name + "' of kernel '" + info.blob->demangled +
           "' is out of the host's reach: a replay starts it from its initial value");
  state.isAnnounced = true;
}

namespace {

struct HiddenGlobals {
  const std::vector<std::string>* names;
  std::vector<artifact::Region>* regions;
};

void addHiddenGlobal(void* user, const char* name, void* address, size_t sizeBytes) {
  const auto* hidden = static_cast<HiddenGlobals*>(user);
  if (std::find(hidden->names->begin(), hidden->names->end(), name) == hidden->names->end())
    return;
  artifact::Region region;
  region.address = reinterpret_cast<uint64_t>(address);
  region.sizeBytes = sizeBytes;
  region.kind = artifact::RegionKind::Global;
  region.name = name;
  hidden->regions->push_back(region);
}

} // namespace

void Session::addGlobals(const KernelInfo& info, const void* kernel,
                         std::vector<artifact::Region>& regions) {
  HiddenGlobals hidden{&info.hiddenGlobals, &regions};
  if (vendor_->visitGlobals && !info.hiddenGlobals.empty())
    vendor_->visitGlobals(kernel, addHiddenGlobal, &hidden);
  for (const GlobalPlace& global : info.globals) {
    void* address = nullptr;
    if (!vendor_->symbolAddress || vendor_->symbolAddress(&address, global.hostShadow) != 0 ||
        !address)
      throw Error(ErrorCode::DeviceFailed,
                  "the address of device variable '" + global.name + "' cannot be found");
    artifact::Region region;
    region.address = reinterpret_cast<uint64_t>(address);
    region.sizeBytes = global.sizeBytes;
    region.kind = artifact::RegionKind::Global;
    region.isConstant = global.isConstant;
    region.name = global.name;
    regions.push_back(region);
  }
}

/// The device variable of any instrumented unit that `pointer` points into: kernels reach variables
/// they do not name through pointers. Empty size if there is none.
artifact::Region Session::globalAt(uint64_t pointer) const {
  struct Search {
    const Vendor* vendor;
    uint64_t pointer;
    artifact::Region found;
  } search{vendor_, pointer, {}};
  if (!vendor_->symbolAddress)
    return search.found;
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry* module) {
        auto& wanted = *static_cast<Search*>(user);
        for (uint64_t i = 0; i < module->globalCount && wanted.found.sizeBytes == 0; ++i) {
          const mneme_global_entry& global = module->globals[i];
          void* place = nullptr;
          if (wanted.vendor->symbolAddress(&place, global.hostShadow) != 0 || !place)
            continue;
          const auto address = reinterpret_cast<uint64_t>(place);
          if (wanted.pointer < address || wanted.pointer - address >= global.sizeBytes)
            continue;
          wanted.found = {address,
                          global.sizeBytes,
                          artifact::RegionKind::Global,
                          (global.flags & 1) != 0,
                          global.name,
                          {}};
        }
      },
      &search);
  return search.found;
}

std::vector<artifact::Region> Session::regionsOf(const KernelInfo& info,
                                                 const mneme_launch& launch) {
  const std::vector<uint64_t> pointers = pointerArguments(*info.blob, launch);
  auto regions = memory_->regions(static_cast<unsigned>(device_), pointers);
  addGlobals(info, launch.kernel, regions);
  for (const uint64_t pointer : pointers) {
    const auto isInside = [&](const artifact::Region& region) {
      return pointer >= region.address && pointer - region.address <= region.sizeBytes;
    };
    if (pointer == 0 || std::any_of(regions.begin(), regions.end(), isInside))
      continue;
    if (const artifact::Region global = globalAt(pointer); global.sizeBytes != 0)
      regions.push_back(global);
    else
      note("kernel '" + info.blob->demangled +
           "' was given a pointer to memory that is not known here; its replay may fail");
  }
  return regions;
}

/// Prologue, launch, epilogue. The whole device is synchronised, not only the launch's stream:
/// work of other streams may write to the same memory, and nothing tells which. False (with a note)
/// when there is nothing to keep.
bool Session::captureAround(Attempt& attempt, const mneme_launch& launch,
                            artifact::InstanceDraft& draft) {
  const KernelInfo& info = *attempt.info;
  const std::string kernel = "kernel '" + info.blob->demangled + "' ";
  if (vendor_->deviceSynchronize() != 0) {
    note(kernel + "was not recorded: the device had failed before its launch");
    return false;
  }
  Capture capture(*memory_->backend(), writer());
  const std::vector<artifact::Region> regions = regionsOf(info, launch);
  draft.prologue = capture.take(regions);
  draft.prologue.args = argumentValues(*info.blob, launch);
  const uint64_t begin = nowNs();
  attempt.status = mneme_rt_call_vendor(&launch);
  if (*attempt.status != 0) {
    note(kernel + "was not recorded: its launch was refused with status " +
         std::to_string(*attempt.status));
    return false;
  }
  if (const int status = vendor_->deviceSynchronize(); status != 0) {
    note(kernel + "was not recorded: it failed with status " + std::to_string(status));
    return false;
  }
  const uint64_t launchNs = nowNs() - begin;
  launchNs_ += launchNs;
  // A runtime that compiles or loads at the first launch would be timed doing that.
  const bool isFirst = !std::exchange(info.state->hasRun, true);
  draft.instance.recordedNs = isFirst && !vendor_->prepareKernel ? 0 : launchNs;
  draft.epilogue = capture.take(regions);
  return true;
}

void Session::record(Attempt& attempt, const mneme_launch& launch) {
  const std::unique_lock lock(gate_);
  const InsideCall inside;
  if (!isActive())
    return settle(attempt, Fate::Failed, false);
  if (const std::string reason = whyNot(attempt, launch); !reason.empty()) {
    note(reason);
    return settle(attempt, Fate::Failed, true);
  }
  const uint64_t begin = nowNs();
  try {
    device_ = 0;
    if (vendor_->getDevice)
      vendor_->getDevice(&device_);
    if (vendor_->prepareKernel)
      vendor_->prepareKernel(launch.kernel);
    announce(*attempt.info);
    artifact::InstanceDraft draft;
    draft.instance.dynamicHash = attempt.dynamicHash;
    draft.instance.grid = dims(launch.grid);
    draft.instance.block = dims(launch.block);
    draft.instance.sharedBytes = launch.sharedBytes;
    draft.instance.isCooperative = attempt.traits.isCooperative;
    if (captureAround(attempt, launch, draft))
      writer().submit(attempt.info->blob->staticHash, std::move(draft));
    else
      settle(attempt, Fate::Failed, false);
  } catch (...) {
    settle(attempt, Fate::Failed, false);
    captureNs_ += nowNs() - begin;
    throw;
  }
  captureNs_ += nowNs() - begin;
}

} // namespace mneme::record
