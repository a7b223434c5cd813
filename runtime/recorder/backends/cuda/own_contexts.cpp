#include "runtime/recorder/backends/cuda/own_contexts.h"

#include <exception>
#include <vector>

namespace mneme::record {

using device::cuda::CUcontext;

void OwnContexts::note(CUcontext context, unsigned device) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    known_[context] = device;
  } catch (const std::exception&) { // no memory: nothing waits for it
  }
}

int OwnContexts::waitForAll(unsigned device, const Wait& wait) {
  std::vector<CUcontext> wanted;
  std::unique_lock lock(mutex_);
  for (const auto& [context, ofDevice] : known_)
    if (ofDevice == device)
      wanted.push_back(context);
  int status = 0;
  for (CUcontext context : wanted) {
    if (!known_.contains(context))
      continue; // it has ended meanwhile
    ++waitedForBy_[context];
    lock.unlock();
    const int result = wait(context);
    lock.lock();
    if (--waitedForBy_[context] == 0)
      waitedForBy_.erase(context);
    changed_.notify_all();
    status = status ? status : result;
  }
  return status;
}

void OwnContexts::forget(CUcontext context) noexcept {
  std::unique_lock lock(mutex_);
  known_.erase(context);
  changed_.wait(lock, [&] { return !waitedForBy_.contains(context); });
}

} // namespace mneme::record
