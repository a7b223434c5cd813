#include "runtime/recorder/deferred_frees.h"

#include <algorithm>

namespace mneme::record {
namespace {

constexpr size_t kMaxBusyMarks = 16;

} // namespace

bool DeferredFrees::add(const Allocation& detached, void* stream) {
  void* mark = backend_.markStream(stream);
  if (!mark)
    return false;
  const std::lock_guard lock(mutex_);
  waiting_.push_back({detached, stream, mark});
  return true;
}

void DeferredFrees::collect() {
  const std::lock_guard lock(mutex_);
  size_t busy =
      0; // marks of one stream pass in order: behind some that wait there is little to find
  std::erase_if(unneeded_, [&](void* mark) { return backend_.isMarkPassed(mark, false); });
  std::erase_if(waiting_, [&](const Waiting& one) {
    if (busy >= kMaxBusyMarks || (!backend_.isMarkPassed(one.mark, false) && ++busy))
      return false;
    memory_.giveBack(one.block);
    return true;
  });
}

void DeferredFrees::waitFor(unsigned device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Waiting& one) {
    if (one.block.device != device || !backend_.isMarkPassed(one.mark, true))
      return false;
    memory_.giveBack(one.block);
    return true;
  });
}

void* DeferredFrees::reuse(uint64_t sizeBytes, unsigned device, void* stream, void* pool) {
  const auto roundUp = [](uint64_t bytes) {
    return (bytes + kAllocationAlignment - 1) / kAllocationAlignment;
  };
  const std::lock_guard lock(mutex_);
  const auto fit = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
    return one.stream == stream && one.block.device == device &&
           roundUp(one.block.sizeBytes) == roundUp(sizeBytes);
  });
  if (fit == waiting_.end())
    return nullptr;
  // One handle may stand for several streams: the default stream of each thread.
  if (!backend_.waitOnStream(stream, fit->mark))
    return nullptr;
  const Waiting chosen = *fit;
  waiting_.erase(fit);
  // The mark is let go in its own time: it says nothing that matters any more.
  if (!backend_.isMarkPassed(chosen.mark, false))
    unneeded_.push_back(chosen.mark);
  return memory_.attachAgain(chosen.block, sizeBytes, pool);
}

void DeferredFrees::forget(unsigned device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Waiting& one) { return one.block.device == device; });
  unneeded_.clear();
}

} // namespace mneme::record
