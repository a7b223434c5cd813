// The end of a session: at exit, from a signal handler, in a forked child.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <new>
#include <thread>

#include "runtime/base/blocked_signals.h"
#include "runtime/base/log.h"
#include "runtime/record/inside_call.h"
#include "runtime/record/process_facts.h"
#include "runtime/record/session.h"
#include "runtime/record/summary.h"

namespace mneme::record {
namespace {

constexpr int kFinishSeconds = 20;
constexpr int kGateSeconds = 5;

} // namespace

void Session::pushOccurrences() {
  catalog_->visitStates([&](uint64_t staticHash, KernelState& state) {
    const std::lock_guard lock(state.mutex);
    for (const auto& [hash, instance] : state.instances)
      if (instance.fate == Fate::Recorded)
        writer_->setOccurrences(staticHash, hash, instance.occurrences);
    writer_->setLaunches(staticHash, state.launches);
  });
}

void Session::startFinisher() {
  sem_init(&finishWanted_, 0, 0);
  sem_init(&finishDone_, 0, 0);
  const BlockedSignals blocked;
  std::thread([this] {
    while (sem_wait(&finishWanted_) != 0) {
    }
    finish();
    sem_post(&finishDone_);
  }).detach();
  hasFinisher_ = true;
}

void Session::finishElsewhere() noexcept {
  if (!isActive() || !hasFinisher_.exchange(false))
    return;
  sem_post(&finishWanted_);
  timespec deadline{};
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += kFinishSeconds;
  while (sem_timedwait(&finishDone_, &deadline) != 0 && errno == EINTR) {
  }
}

/// What is on its way is submitted then.
void Session::finishTransfers() noexcept {
  const std::lock_guard lock(accessMutex_);
  for (const auto& [device, access] : accesses_)
    access->finish();
}

void Session::vendorEnds() noexcept {
  if (!isOwner())
    return;
  isVendorEnding_ = true;
  finishTransfers();
}

void Session::finish() noexcept {
  try {
    // A call of another thread that never returns must not keep the program from ending.
    const std::unique_lock lock(gate_, std::chrono::seconds(isInsideCall ? 0 : kGateSeconds));
    if (!isOwner() || !isActive_.exchange(false))
      return;
    const InsideCall inside;
    const uint64_t begin = nowNs();
    finishTransfers();
    if (vendor_ && launches_ > 0)
      for (const std::string& library : loadedKernelLibraries(*vendor_))
        note("'" + library + "' is loaded: kernels it launches itself are not recorded");
    if (writer_) {
      pushOccurrences();
      const std::lock_guard notes(notesMutex_);
      for (const auto& [reason, count] : notes_)
        writer_->noteLoss(withCount(reason, count));
      writer_->finish();
    }
    sayGoodbye(nowNs() - begin);
  } catch (const std::exception& error) {
    notice(std::string("the recording did not end well: ") + error.what());
  }
}

void Session::sayGoodbye(uint64_t finishNs) {
  SummaryFacts facts;
  facts.directory = settings_.directory.string();
  facts.launches = launches_;
  facts.captureNs = captureNs_ - std::min(captureNs_, launchNs_);
  facts.finishNs = finishNs;
  catalog_->visitStates([&](uint64_t, KernelState& state) {
    facts.kernels += state.isAnnounced ? 1 : 0;
    facts.skipped += state.skipped;
  });
  if (writer_)
    facts.writer = writer_->statistics();
  facts.notes = notes_;
  for (const std::string& line : summaryLines(facts))
    notice(line);
  if (facts.launches == 0)
    if (const std::string reason =
            whyNothingWasSeen(memory_->hasSeenAllocations(), hasSeenModules_);
        !reason.empty())
      notice(reason);
}

// A fork inside a call of ours (a driver may start a helper program) finds the gate held already.
void Session::beforeFork() noexcept {
  if (!isInsideCall)
    gate_.lock();
}

void Session::afterForkInParent() noexcept {
  if (!isInsideCall)
    gate_.unlock();
}

void Session::afterForkInChild() noexcept {
  isActive_ = false;
  // The lock remembers the thread that took it, which does not exist here.
  new (&gate_) std::shared_timed_mutex;
}

} // namespace mneme::record
