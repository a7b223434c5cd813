// The end of a session: at exit, from a signal handler, in a forked child.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <new>
#include <thread>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/inside_call.h"
#include "runtime/recorder/process_facts.h"
#include "runtime/recorder/session.h"
#include "runtime/recorder/summary.h"

namespace mneme::record {
namespace {

using std::chrono::milliseconds;

/// For who ends the process in a place where it could be that a lock is never free again.
constexpr int kStuckSeconds = 20;
/// A thread that left by longjmp while it held a lock the child needs must not block the fork for
/// ever.
constexpr milliseconds kForkPatience{2000};

/// What this thread has taken for its fork().
struct LockedForFork {
  bool memory = false;
  bool frees = false;
};
thread_local LockedForFork lockedForFork;

/// Whether `mutex` is locked. It is known to be held shortly, but a thread may have jumped.
template <typename Mutex> bool tryFor(Mutex& mutex, milliseconds patience) noexcept {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!mutex.try_lock()) {
    if (std::chrono::steady_clock::now() >= end)
      return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

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

/// Those of which there are more than at the last time.
void Session::pushNotes() {
  const std::lock_guard lock(notesMutex_);
  for (const auto& [reason, count] : notes_)
    if (std::exchange(pushedNotes_[reason], count) != count)
      writer_->noteLoss(withCount(reason, count));
}

void Session::startFinisher() {
  sem_init(&finishWanted_, 0, 0);
  sem_init(&finishDone_, 0, 0);
  const BlockedSignals blocked;
  std::thread([this] { serveFinisher(); }).detach();
  hasFinisher_ = true;
}

void Session::serveFinisher() noexcept {
  for (;;) {
    while (sem_wait(&finishWanted_) != 0) {
    }
    const Wish wish = wish_;
    if (wish == Wish::Pause)
      pause();
    else if (wish == Wish::Resume)
      resume();
    else if (wish == Wish::Write)
      write();
    else
      finish();
    sem_post(&finishDone_);
    if (wish == Wish::Finish)
      return;
  }
}

/// Waits as long as the recording gets on. False if it does not.
bool Session::askFinisher(Wish wish) noexcept {
  const DeferredCancellation cancellation;
  wish_ = wish;
  sem_post(&finishWanted_);
  uint64_t progress = 0;
  for (int stuckSeconds = 0; stuckSeconds < kStuckSeconds;) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    ++until.tv_sec;
    if (sem_timedwait(&finishDone_, &until) == 0)
      return true;
    if (errno == EINTR)
      continue;
    ++stuckSeconds;
    if (const uint64_t now = writer_->progress(); std::exchange(progress, now) != now)
      stuckSeconds = 0;
  }
  return false;
}

bool Session::finishElsewhere() noexcept {
  if (!isActive() || !hasFinisher_.exchange(false))
    return false;
  giveUpCall();
  askFinisher(Wish::Finish);
  return true;
}

void Session::writeElsewhere() noexcept {
  if (!isActive() || !hasFinisher_.exchange(false))
    return;
  if (askFinisher(Wish::Write))
    hasFinisher_ = true;
}

bool Session::pauseElsewhere() noexcept {
  if (!isActive() || !hasFinisher_.exchange(false))
    return false;
  giveUpCall();
  return askFinisher(Wish::Pause);
}

void Session::resumeElsewhere() noexcept {
  if (askFinisher(Wish::Resume))
    hasFinisher_ = true;
}

/// What is on its way is submitted then.
void Session::finishTransfers() noexcept {
  const std::lock_guard lock(accessMutex_);
  for (const auto& [place, access] : accesses_)
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
    giveUpCall(); // the process ends in it
    const Alone alone = Alone::atTheEnd(gate_);
    if (!isOwner() || !isActive_.exchange(false))
      return;
    if (alone.isAlone())
      settleLeft();
    else if (isUnderWay_)
      note("the program ended while a launch was being recorded, which is lost");
    conclude();
  } catch (const std::exception& error) {
    notice(sentence("the recording did not end well: ", error.what()));
  }
}

/// Writes all there is and says so.
void Session::conclude() {
  const uint64_t begin = nowNs();
  finishTransfers();
  if (launches_ > 0 && !backend_.seesKernelLibraries())
    for (const std::string& library : loadedLibraries(backend_.kernelLibraries()))
      note("'" + library + "' is loaded: kernels it launches itself are not recorded");
  if (writer_) {
    pushOccurrences();
    pushNotes();
    writer_->finish();
  }
  const std::vector<std::string> graphs = writeGraphs();
  sayGoodbye(nowNs() - begin, graphs);
}

/// Others are kept outside until resume().
void Session::pause() noexcept {
  try {
    isShutForPause_ = gate_.shutAnyway(Alone::kRecordingPatience, Alone::kCallPatience);
    const Call call(gate_, Call::Kind::Recorder);
    if (isShutForPause_)
      settleLeft();
    conclude();
  } catch (const std::exception& error) {
    notice(sentence("the recording did not end well: ", error.what()));
  }
}

/// Nobody is kept outside: what comes in meanwhile may be written, too.
void Session::write() noexcept {
  finishTransfers();
  if (writer_)
    writer_->waitUntilWritten();
}

void Session::resume() noexcept {
  try {
    writer_->reopen();
    notice("the program was not replaced by another after all (exec failed): recording goes on");
  } catch (const std::exception& error) {
    notice(sentence("the recording cannot go on: ", error.what()));
  }
  if (std::exchange(isShutForPause_, false))
    gate_.open();
}

void Session::sayGoodbye(uint64_t finishNs, const std::vector<std::string>& graphs) {
  SummaryFacts facts;
  facts.directory = settings_.directory.string();
  facts.launches = launches_;
  facts.captureNs = captureNs_ - std::min(captureNs_, launchNs_);
  facts.finishNs = finishNs;
  catalog_->visitStates([&](uint64_t, KernelState& state) {
    facts.kernels += state.isAnnounced ? 1 : 0;
    facts.skipped += state.skipped;
  });
  facts.remarks = sections_->summary();
  facts.remarks.insert(facts.remarks.begin(), graphs.begin(), graphs.end());
  if (writer_)
    facts.writer = writer_->statistics();
  {
    const std::lock_guard lock(notesMutex_);
    facts.notes = notes_;
  }
  {
    const std::lock_guard lock(labelsMutex_);
    if (std::ranges::none_of(wantedLabels_, [](const auto& one) { return one.second; }))
      facts.unwanted = catalog_->allUnwanted();
  }
  for (const std::string& line : summaryLines(facts))
    notice(line);
  if (facts.launches == 0)
    if (const std::string reason =
            whyNothingWasSeen(memory_->hasSeenAllocations(), hasSeenModules_);
        !reason.empty())
      notice(reason);
}

// The child frees memory, and so needs what says whose it is. The threads that hold those locks
// give them up soon; a launch or a recording under way is not waited for.
void Session::beforeFork() noexcept {
  if (!memory_ || !deferredFrees_)
    return;
  // This thread may have them itself: a driver starts a helper program inside a call of ours.
  const milliseconds patience = isInsideCall() ? milliseconds(0) : kForkPatience;
  lockedForFork.frees = tryFor(deferredFrees_->mutex(), patience);
  lockedForFork.memory = lockedForFork.frees && tryFor(memory_->mutex(), patience);
}

void Session::afterForkInParent() noexcept {
  const LockedForFork locked = std::exchange(lockedForFork, LockedForFork());
  if (locked.memory)
    memory_->mutex().unlock();
  if (locked.frees)
    deferredFrees_->mutex().unlock();
}

void Session::afterForkInChild() noexcept {
  isActive_ = false;
  const LockedForFork locked = std::exchange(lockedForFork, LockedForFork());
  isMemoryWhole_ = locked.memory;
  if (locked.memory) { // locks remember the thread that took them, which does not exist here
    new (&memory_->mutex()) std::shared_mutex;
    new (&deferredFrees_->mutex()) std::mutex;
  }
  gate_.resetInChild(isInsideCall());
}

} // namespace mneme::record
