#include "runtime/replay/reader_pool.h"

#include <algorithm>
#include <sched.h>
#include <system_error>

namespace mneme::replay {

unsigned readerCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::clamp(CPU_COUNT(&set), 1, 16);
}

ReaderPool::ReaderPool(const std::vector<UploadPiece>& pieces, const PieceInspector& inspect,
                       unsigned readers)
    : pieces_(pieces), inspect_(inspect) {
  try {
    for (unsigned i = 0; i < readers; ++i)
      threads_.emplace_back([this] { readAll(); });
  } catch (const std::system_error&) { // no more threads can be started: fewer do the work
  }
}

ReaderPool::~ReaderPool() {
  {
    std::lock_guard lock(mutex_);
    isStopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void ReaderPool::addBuffer(std::span<std::byte> bytes) {
  {
    std::lock_guard lock(mutex_);
    free_.push_back(buffers_.size());
    buffers_.push_back(bytes);
  }
  changed_.notify_all();
}

std::optional<ReaderPool::Filled> ReaderPool::take(bool isWaiting) {
  std::unique_lock lock(mutex_);
  if (isWaiting)
    changed_.wait(lock, [&] { return !filled_.empty() || failure_; });
  if (failure_)
    std::rethrow_exception(failure_);
  if (filled_.empty())
    return std::nullopt;
  const Filled filled = filled_.front();
  filled_.pop_front();
  return filled;
}

void ReaderPool::giveBack(size_t buffer) {
  {
    std::lock_guard lock(mutex_);
    free_.push_back(buffer);
  }
  changed_.notify_all();
}

void ReaderPool::readAll() {
  try {
    while (readNext())
      continue;
  } catch (...) {
    std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    isStopped_ = true;
    changed_.notify_all();
  }
}

/// False when there is nothing left to read.
bool ReaderPool::readNext() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return isStopped_ || next_ == pieces_.size() || !free_.empty(); });
  if (isStopped_ || next_ == pieces_.size())
    return false;
  const UploadPiece& piece = pieces_[next_++];
  const size_t buffer = free_.back();
  free_.pop_back();
  const std::span<std::byte> bytes = buffers_[buffer].first(piece.sizeBytes);
  lock.unlock();
  piece.snapshot->read(piece.region, piece.offset, bytes);
  if (inspect_)
    inspect_(piece, bytes);
  lock.lock();
  filled_.push_back({&piece, buffer});
  changed_.notify_all();
  return true;
}

} // namespace mneme::replay
