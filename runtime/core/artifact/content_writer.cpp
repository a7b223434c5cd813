#include "runtime/core/artifact/content_writer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/uio.h>

#include "runtime/core/artifact/chunk_codec.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/parallel.h"
#include "runtime/core/base/write_signals.h"

namespace mneme::artifact {
namespace {

/// Chunks compressed together, 32 MiB: enough to keep threads and disk busy, and a bound on the
/// memory for compressed content (two batches are under way).
constexpr size_t kBatchChunks = 512;
/// Below this a thread of its own for writing costs more than it gains.
constexpr size_t kPipelinedChunks = 64;
/// Dirty pages allowed behind the writer; more would only fill memory the application may need.
constexpr uint64_t kDirtyBytes = 512ull << 20;
/// Files up to this size stay in the page cache, for a replay that follows at once.
constexpr uint64_t kCachedBytes = 4ull << 30;

/// A part of the items on its way to the file.
struct Batch {
  size_t begin = 0;
  uint64_t offset = 0;
  std::vector<std::vector<std::byte>> packed; ///< owned stored bytes; empty: stored raw
  std::vector<std::span<const std::byte>> stored;
};

void writeGathered(const UniqueFd& file, const Batch& batch, const std::filesystem::path& path) {
  BlockedWriteSignals signals;
  std::array<iovec, 256> parts;
  uint64_t offset = batch.offset;
  std::span<const std::byte> rest; // of a chunk that was written in part
  for (size_t next = 0; next < batch.stored.size() || !rest.empty();) {
    size_t count = 0;
    if (!rest.empty())
      parts[count++] = {const_cast<std::byte*>(rest.data()), rest.size()};
    for (size_t at = next; at < batch.stored.size() && count < parts.size(); ++at)
      parts[count++] = {const_cast<std::byte*>(batch.stored[at].data()), batch.stored[at].size()};
    const ssize_t written =
        pwritev(file.get(), parts.data(), static_cast<int>(count), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      signals.noteFailure(errno);
    if (written <= 0)
      throw Error(ErrorCode::IoFailed,
                  systemMessage("cannot write '" + path.string() + "'", written < 0 ? errno : EIO));
    offset += static_cast<uint64_t>(written);
    auto left = static_cast<size_t>(written);
    if (!rest.empty()) {
      const size_t taken = std::min(left, rest.size());
      rest = rest.subspan(taken);
      left -= taken;
    }
    for (; left > 0; ++next) {
      const size_t taken = std::min(left, batch.stored[next].size());
      rest = batch.stored[next].subspan(taken);
      left -= taken;
    }
  }
}

/// Starts writing back what was just written and, in large files, waits for what lies far behind.
/// Hints only: a file system without them writes when it likes.
void writeBack(int descriptor, uint64_t begin, uint64_t end) {
  sync_file_range(descriptor, static_cast<off_t>(begin), static_cast<off_t>(end - begin),
                  SYNC_FILE_RANGE_WRITE);
  if (end < kDirtyBytes + (end - begin))
    return;
  const uint64_t old = begin - kDirtyBytes;
  const auto size = static_cast<off_t>(end - begin);
  sync_file_range(descriptor, static_cast<off_t>(old), size,
                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  if (old > kCachedBytes)
    posix_fadvise(descriptor, static_cast<off_t>(old), size, POSIX_FADV_DONTNEED);
}

class Pipeline {
public:
  Pipeline(const UniqueFd& file, const std::filesystem::path& path,
           std::span<const ContentItem> items, const ContentOptions& options)
      : file_(file), path_(path), items_(items), options_(options) {}
  ~Pipeline() {
    if (writer_.joinable())
      writer_.join();
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  std::vector<StoredItem> run(uint64_t offset) {
    results_.reserve(items_.size());
    for (size_t begin = 0; begin < items_.size(); begin += kBatchChunks) {
      Batch batch = pack(begin, std::min(kBatchChunks, items_.size() - begin));
      batch.offset = offset;
      for (size_t index = 0; index < batch.stored.size(); ++index) {
        StoredItem& result = results_[begin + index];
        result.offset = offset;
        result.storedBytes = static_cast<uint32_t>(batch.stored[index].size());
        offset += result.storedBytes;
      }
      finishBatch();
      startBatch(std::move(batch));
    }
    finishBatch();
    return std::move(results_);
  }

private:
  Batch pack(size_t begin, size_t count) {
    Batch batch;
    batch.begin = begin;
    batch.packed.resize(count);
    batch.stored.resize(count);
    results_.resize(begin + count);
    parallelFor(count, options_.threads->load(), [&](uint64_t index) {
      const ContentItem& item = items_[begin + index];
      Codec& codec = results_[begin + index].codec;
      std::vector<std::byte>& packed = batch.packed[index];
      if (item.bytes.empty()) {
        packed = options_.fetch(item.source);
        codec = item.source.codec;
      } else {
        if (item.bytes.size() != item.rawBytes || hash128(item.bytes) != item.hash)
          throw Error(ErrorCode::Internal, "memory changed while it was captured");
        StoredChunk chunk = compressChunk(item.bytes, options_.compressionLevel);
        codec = chunk.codec;
        packed = std::move(chunk.bytes);
      }
      batch.stored[index] = packed.empty() ? item.bytes : std::span<const std::byte>(packed);
    });
    return batch;
  }

  void startBatch(Batch batch) {
    current_ = std::move(batch);
    const auto write = [this] {
      try {
        writeGathered(file_, *current_, path_);
        uint64_t end = current_->offset;
        for (const auto& stored : current_->stored)
          end += stored.size();
        if (current_->stored.size() >= kPipelinedChunks)
          writeBack(file_.get(), current_->offset, end);
      } catch (...) {
        failure_ = std::current_exception();
      }
    };
    try {
      if (current_->begin + current_->stored.size() < items_.size()) {
        writer_ = std::thread(write);
        return;
      }
    } catch (const std::exception&) { // no thread can be started: written here
    }
    write();
  }

  void finishBatch() {
    if (writer_.joinable())
      writer_.join();
    if (failure_)
      std::rethrow_exception(std::exchange(failure_, nullptr));
    if (current_ && options_.onWritten)
      options_.onWritten(current_->begin + current_->stored.size());
  }

  const UniqueFd& file_;
  const std::filesystem::path& path_;
  std::span<const ContentItem> items_;
  const ContentOptions& options_;
  std::vector<StoredItem> results_;
  std::optional<Batch> current_; ///< being written
  std::thread writer_;
  std::exception_ptr failure_;
};

} // namespace

std::vector<StoredItem> writeContent(const UniqueFd& file, const std::filesystem::path& path,
                                     uint64_t offset, std::span<const ContentItem> items,
                                     const ContentOptions& options) {
  return Pipeline(file, path, items, options).run(offset);
}

} // namespace mneme::artifact
