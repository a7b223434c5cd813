// Room core/artifact (internal): writes chunks into a file; compresses in parallel while others are
// written.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "runtime/core/artifact/chunk_index.h"
#include "runtime/core/base/unique_fd.h"

namespace mneme::artifact {

/// One content to store.
struct ContentItem {
  Hash128 hash;
  uint32_t rawBytes = 0;
  std::span<const std::byte> bytes; ///< empty: copied from `source`
  ChunkPlace source;
};

/// Where and how an item was stored.
struct StoredItem {
  uint64_t offset = 0;
  uint32_t storedBytes = 0;
  Codec codec = Codec::Raw;
};

struct ContentOptions {
  int compressionLevel = 1;
  const std::atomic<unsigned>* threads = nullptr; ///< read repeatedly, may change
  /// Returns the stored bytes of an item that has none.
  std::function<std::vector<std::byte>(const ChunkPlace& place)> fetch;
  /// Called with the number of items, from the first one, whose bytes are no longer needed.
  std::function<void(size_t items)> onWritten;
};

/// Writes items from `offset` on, in order and without gaps. Content that does not compress is
/// passed to the kernel without a copy.
/// \throws Error{IoFailed}, Error{Internal} for bytes that do not have their hash.
std::vector<StoredItem> writeContent(const UniqueFd& file, const std::filesystem::path& path,
                                     uint64_t offset, std::span<const ContentItem> items,
                                     const ContentOptions& options);

} // namespace mneme::artifact
