#include "runtime/jit/binary.h"

#include <chrono>

namespace mneme::jit {

Binary::Step Binary::next() {
  const std::lock_guard lock(mutex_);
  switch (state_) {
  case State::New:
    state_ = State::Building;
    return Step::Build;
  case State::Built:
    state_ = State::Loading;
    return Step::Load;
  case State::Building:
  case State::Loading:
    return Step::Wait;
  case State::Ended:
    break;
  }
  return Step::Done;
}

bool Binary::wait(double seconds) {
  std::unique_lock lock(mutex_);
  const auto isIdle = [&] { return state_ != State::Building && state_ != State::Loading; };
  if (seconds > 0)
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds), isIdle);
  changed_.wait(lock, isIdle);
  return true;
}

void Binary::become(State state) {
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  changed_.notify_all();
}

void Binary::built(std::vector<std::byte> image, std::string symbol) {
  image_ = std::move(image);
  symbol_ = std::move(symbol);
  become(State::Built);
}

void Binary::ready(std::unique_ptr<LoadedKernel> loaded) {
  owned_ = std::move(loaded);
  image_ = {};
  loaded_.store(owned_.get(), std::memory_order_release);
  become(State::Ended);
}

void Binary::fail() {
  image_ = {};
  hasFailed_.store(true, std::memory_order_release);
  become(State::Ended);
}

} // namespace mneme::jit
