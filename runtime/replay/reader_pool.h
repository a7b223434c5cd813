// Room replay: threads that read pieces of snapshots into the caller's buffers.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "runtime/replay/upload_piece.h"

namespace mneme::replay {

/// Returns the number of cores this process may use, but at most 16: more do not read faster.
unsigned readerCount();

/// Readers fill buffers with pieces, the owner empties them. Buffers are identified by number. The
/// owner calls from one thread. `pieces` and `inspect` must outlive the pool.
class ReaderPool {
public:
  struct Filled {
    const UploadPiece* piece = nullptr;
    size_t buffer = 0;
  };

  ReaderPool(const std::vector<UploadPiece>& pieces, const PieceInspector& inspect,
             unsigned readers);
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;

  /// Whether there are threads. Without them, because the system refused, nothing is read.
  bool hasReaders() const { return !threads_.empty(); }
  /// Adds a buffer, which must be large enough for the largest piece. The owner keeps it.
  void addBuffer(std::span<std::byte> bytes);
  /// Returns a filled buffer; waits for one if `isWaiting`. \throws what reading threw
  std::optional<Filled> take(bool isWaiting);
  /// Allows a buffer to be filled again.
  void giveBack(size_t buffer);

private:
  void readAll();
  bool readNext();

  const std::vector<UploadPiece>& pieces_;
  const PieceInspector& inspect_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::span<std::byte>> buffers_;
  std::vector<size_t> free_;
  std::deque<Filled> filled_;
  size_t next_ = 0;
  bool isStopped_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

} // namespace mneme::replay
