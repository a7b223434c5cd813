// Room replay: threads that read pieces of snapshots into buffers of somebody else.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "runtime/replay/upload.h"

namespace mneme::replay {

/// Cores this process may use, at most 16: more do not read faster.
unsigned readerCount();

/// Readers fill buffers with pieces, the owner empties them. Buffers are known by number; the
/// owner's calls come from one thread. `pieces` and `inspect` must outlive the pool.
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

  /// False when the system refuses threads: nothing will be read.
  bool hasReaders() const { return !threads_.empty(); }
  /// Hands over a buffer that holds the largest piece; it stays the owner's.
  void addBuffer(std::span<std::byte> bytes);
  /// A filled buffer; waits for one if told to. \throws what reading threw
  std::optional<Filled> take(bool isWaiting);
  /// The buffer may be filled again.
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
