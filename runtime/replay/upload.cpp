#include "runtime/replay/upload.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>

#include "runtime/base/hash.h"

namespace mneme::replay {

namespace {

constexpr uint64_t kPieceBytes = 32 * artifact::kChunkBytes;
/// Below this, threads cost more than they save.
constexpr uint64_t kInlineBytes = 1 << 20;

const Hash128& zeroChunkHash() {
  static const Hash128 hash = hash128(std::vector<std::byte>(artifact::kChunkBytes));
  return hash;
}

unsigned readerCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::clamp(CPU_COUNT(&set), 1, 16);
}

/// Readers fill buffers, the owner empties them in any order.
class ReaderPool {
public:
  ReaderPool(const std::vector<UploadPiece>& pieces, unsigned readers) : pieces_(pieces) {
    free_.resize(readers * 2);
    try {
      for (unsigned i = 0; i < readers; ++i)
        threads_.emplace_back([this] { readAll(); });
    } catch (const std::system_error&) { // no more threads to be had: fewer do the same work
    }
  }

  ~ReaderPool() {
    {
      std::lock_guard lock(mutex_);
      isStopped_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
      thread.join();
  }

  bool hasReaders() const { return !threads_.empty(); }

  struct Filled {
    const UploadPiece* piece;
    std::vector<std::byte> bytes;
  };

  Filled take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !filled_.empty() || failure_; });
    if (failure_)
      std::rethrow_exception(failure_);
    Filled filled = std::move(filled_.front());
    filled_.pop_front();
    return filled;
  }

  void giveBack(std::vector<std::byte> buffer) {
    {
      std::lock_guard lock(mutex_);
      free_.push_back(std::move(buffer));
    }
    changed_.notify_all();
  }

private:
  void readAll() {
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
  bool readNext() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return isStopped_ || next_ == pieces_.size() || !free_.empty(); });
    if (isStopped_ || next_ == pieces_.size())
      return false;
    const UploadPiece& piece = pieces_[next_++];
    std::vector<std::byte> buffer = std::move(free_.back());
    free_.pop_back();
    lock.unlock();
    buffer.resize(piece.sizeBytes);
    piece.snapshot->read(piece.region, piece.offset, buffer);
    lock.lock();
    filled_.push_back({&piece, std::move(buffer)});
    changed_.notify_all();
    return true;
  }

  const std::vector<UploadPiece>& pieces_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::byte>> free_;
  std::deque<Filled> filled_;
  size_t next_ = 0;
  bool isStopped_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

} // namespace

void appendPieces(std::vector<UploadPiece>& pieces, const artifact::Snapshot& snapshot,
                  size_t region, uint64_t offset, uint64_t sizeBytes, uint64_t base,
                  bool skipZero) {
  const std::vector<Hash128> hashes =
      skipZero ? snapshot.chunkHashes(region) : std::vector<Hash128>();
  const uint64_t end = offset + sizeBytes;
  UploadPiece open;
  const auto flush = [&] {
    if (open.sizeBytes > 0)
      pieces.push_back(open);
    open = UploadPiece();
  };
  while (offset < end) {
    const uint64_t chunk = offset / artifact::kChunkBytes;
    const uint64_t take = std::min((chunk + 1) * artifact::kChunkBytes, end) - offset;
    if (chunk < hashes.size() && hashes[chunk] == zeroChunkHash()) {
      flush();
    } else {
      if (open.sizeBytes + take > kPieceBytes)
        flush();
      if (open.sizeBytes == 0)
        open = {&snapshot, region, offset, 0, base + offset};
      open.sizeBytes += take;
    }
    offset += take;
  }
  flush();
}

void upload(device::Device& device, const std::vector<UploadPiece>& pieces) {
  uint64_t total = 0;
  for (const UploadPiece& piece : pieces)
    total += piece.sizeBytes;
  if (total > kInlineBytes)
    if (ReaderPool pool(pieces, readerCount()); pool.hasReaders()) {
      for (size_t i = 0; i < pieces.size(); ++i) {
        ReaderPool::Filled filled = pool.take();
        device.copyToDevice(filled.piece->destination, filled.bytes.data(), filled.bytes.size());
        pool.giveBack(std::move(filled.bytes));
      }
      return;
    }
  std::vector<std::byte> buffer;
  for (const UploadPiece& piece : pieces) {
    buffer.resize(piece.sizeBytes);
    piece.snapshot->read(piece.region, piece.offset, buffer);
    device.copyToDevice(piece.destination, buffer.data(), buffer.size());
  }
}

} // namespace mneme::replay
