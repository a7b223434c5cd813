#include "runtime/emulator/runtimes/core/lanes.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include <pthread.h>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/emulator/executor/pool.h"
#include "runtime/emulator/runtimes/core/event.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/stream.h"

namespace mneme::cpu_runtime {

std::atomic<int> busyLanes{0};

namespace {

/// A call that launches a kernel which may wait for the host gives it so long to end.
constexpr auto kMoment = std::chrono::milliseconds(20);

struct Lane;
/// A place in a lane: passed when so much has been done there.
struct Ticket {
  std::shared_ptr<Lane> lane;
  uint64_t number = 0;
};

struct Entry {
  Work work;
  std::vector<Ticket> after;
  std::shared_ptr<std::vector<char>> kept; ///< what `work` reads
};

struct Lane {
  bool isBlocking = true; ///< comes after the legacy stream's work, and that after it
  bool hasThread = false;
  std::deque<Entry> queue; ///< the first is under way
  uint64_t queued = 0, done = 0;
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<const void*, std::shared_ptr<Lane>> lanes; ///< with work, by stream
  std::unordered_map<void*, Ticket> events;
  std::atomic<int> waits{0};
};
/// Never destroyed: lanes may run when the program ends. A child of fork() has none of them, and
/// begins anew.
State& state() {
  static State* present = [] {
    pthread_atfork(nullptr, nullptr, [] {
      busyLanes = 0;
      present = new State;
    });
    return new State;
  }();
  return *present;
}

thread_local bool isLane = false;

bool isPassed(const Ticket& ticket) { return ticket.lane->done >= ticket.number; }

/// What work given to `stream` now has to come after. Under the mutex.
std::vector<Ticket> ticketsBefore(void* stream) {
  std::vector<Ticket> tickets;
  const bool isBlocking = !isNonBlocking(stream);
  for (const auto& [key, lane] : state().lanes)
    if (key == streamKey(stream) || (isLegacyStream(stream) && lane->isBlocking) ||
        (key == nullptr && isBlocking))
      tickets.push_back({lane, lane->queued});
  return tickets;
}

void run(Entry& entry) {
  try {
    if (const Status status = runWork(entry.work); status != Status::Success)
      reportFault(status);
  } catch (const std::exception& failure) {
    reportFault(statusOf(failure));
  }
}

void runLane(const void* key, const std::shared_ptr<Lane>& lane) {
  device::cpu::blockHostSignals();
  isLane = true;
  State& s = state();
  std::unique_lock lock(s.mutex);
  while (!lane->queue.empty()) {
    Entry& entry = lane->queue.front();
    s.changed.wait(lock, [&] { return std::ranges::all_of(entry.after, isPassed); });
    lock.unlock();
    run(entry);
    entry = {}; // what it holds may need other locks to go
    lock.lock();
    lane->queue.pop_front();
    ++lane->done;
    if (lane->queue.empty()) {
      s.lanes.erase(key);
      std::erase_if(s.events, [](const auto& one) { return isPassed(one.second); });
      --busyLanes;
    }
    s.changed.notify_all();
  }
}

/// Starts the thread of a lane whose first work waits. Without a thread the lane is gone.
void startThread(const void* key, const std::shared_ptr<Lane>& lane) {
  try {
    const BlockedSignals blocked;
    std::thread(runLane, key, lane).detach();
    lane->hasThread = true;
  } catch (...) {
    state().lanes.erase(key);
    --busyLanes;
    throw;
  }
}

/// Under the mutex. \throws std::system_error if there can be no more threads
Ticket push(void* stream, Entry entry) {
  const void* key = streamKey(stream);
  std::shared_ptr<Lane>& place = state().lanes[key];
  if (!place) {
    place = std::make_shared<Lane>();
    place->isBlocking = !isNonBlocking(stream);
    ++busyLanes;
  }
  const std::shared_ptr<Lane> lane = place;
  lane->queue.push_back(std::move(entry));
  if (!lane->hasThread)
    startThread(key, lane);
  return {lane, ++lane->queued};
}

void waitFor(std::unique_lock<std::mutex>& lock, const std::vector<Ticket>& tickets) {
  ++state().waits;
  state().changed.wait(lock, [&] { return std::ranges::all_of(tickets, isPassed); });
  --state().waits;
}

std::vector<Ticket> allTickets() {
  std::vector<Ticket> tickets;
  for (const auto& [key, lane] : state().lanes)
    tickets.push_back({lane, lane->queued});
  return tickets;
}

bool isPageable(const void* pointer) { return !Heap::instance().find(pointer); }

size_t spanOf(const PitchedPtr& memory, const Pos& at, const Extent& extent) {
  const size_t slice = memory.pitch * memory.ysize;
  return (at.z + extent.depth - 1) * slice + (at.y + extent.height - 1) * memory.pitch + at.x +
         extent.width;
}

/// Keeps what a copy reads from pageable memory.
void keepSource(Entry& entry) {
  auto* copy = std::get_if<CopyWork>(&entry.work);
  if (!copy || !isPageable(copy->params.srcPtr.ptr))
    return;
  Memcpy3DParms& p = copy->params;
  if (p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0)
    return;
  const auto* source = static_cast<const char*>(p.srcPtr.ptr);
  entry.kept =
      std::make_shared<std::vector<char>>(source, source + spanOf(p.srcPtr, p.srcPos, p.extent));
  p.srcPtr.ptr = entry.kept->data();
}

} // namespace

bool enqueue(void* stream, Work work) {
  const auto* copy = std::get_if<CopyWork>(&work);
  const bool writesPageable = copy && isPageable(copy->params.dstPtr.ptr);
  std::unique_lock lock(state().mutex);
  std::vector<Ticket> before = ticketsBefore(stream);
  if (before.empty())
    return false;
  if (writesPageable) {
    waitFor(lock, before);
    return false;
  }
  Entry entry{std::move(work), std::move(before), nullptr};
  keepSource(entry);
  push(stream, std::move(entry));
  return true;
}

void runBehind(void* stream, Work work) {
  std::unique_lock lock(state().mutex);
  const Ticket ticket = push(stream, {std::move(work), ticketsBefore(stream), nullptr});
  state().changed.wait_for(lock, kMoment, [&] { return isPassed(ticket); });
}

bool isStreamBusy(void* stream) {
  const std::lock_guard lock(state().mutex);
  return !ticketsBefore(stream).empty();
}

void waitForStream(void* stream) {
  std::unique_lock lock(state().mutex);
  waitFor(lock, ticketsBefore(stream));
}

void waitForLegacyStream() { waitForStream(nullptr); }

void waitForDevice() {
  std::unique_lock lock(state().mutex);
  waitFor(lock, allTickets());
}

bool recordBehind(void* event, void* stream) {
  std::unique_lock lock(state().mutex);
  state().events.erase(event);
  std::vector<Ticket> before = ticketsBefore(stream);
  if (before.empty())
    return false;
  state().events[event] = push(stream, {RecordWork{event}, std::move(before), nullptr});
  return true;
}

bool waitBehind(void* stream, void* event) {
  std::unique_lock lock(state().mutex);
  const auto found = state().events.find(event);
  if (found == state().events.end() || isPassed(found->second))
    return false;
  std::vector<Ticket> before = ticketsBefore(stream);
  before.push_back(found->second);
  push(stream, {EmptyWork{}, std::move(before), nullptr});
  return true;
}

bool isPending(void* event) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().events.find(event);
  return found != state().events.end() && !isPassed(found->second);
}

void forgetEvent(void* event) {
  const std::lock_guard lock(state().mutex);
  state().events.erase(event);
}

void waitForEvent(void* event) {
  std::unique_lock lock(state().mutex);
  if (const auto found = state().events.find(event); found != state().events.end())
    waitFor(lock, {found->second});
}

const std::atomic<int>* hostWaits() noexcept { return isLane ? &state().waits : nullptr; }

} // namespace mneme::cpu_runtime
