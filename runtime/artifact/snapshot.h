// Room artifact: reads `DeviceState.*.mneme` files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"

namespace mneme::artifact {

/// File layout (little endian, version 1):
///   SnapshotHeader {magic "MNEMESNP", version, headerBytes, chunkBytes, tableOffset, tableBytes,
///                   tableChecksum, fileBytes}, then chunk payloads, then the table.
/// The table holds: referenced file names, regions (address, size, kind, name, annotation), for every
/// region one ChunkRef per chunk, and the argument values. A ChunkRef says where the content is: all
/// zero, in this file, or in a referenced file of the same directory; with offset, stored size, codec
/// (raw or zstd), raw size and the Hash128 of the raw bytes, which is checked on every read.
/// The header is written last; a file without a valid header and table checksum is not a snapshot.
struct SnapshotSizes {
  uint64_t rawBytes = 0;      ///< sum of region sizes
  uint64_t uniqueBytes = 0;   ///< raw bytes whose content is stored in this file
  uint64_t storedBytes = 0;   ///< size of this file
};

/// An open snapshot. Immutable; reads are thread-safe.
class Snapshot {
public:
  /// \throws Error{NotFound, ArtifactCorrupt} naming the file and what is wrong with it.
  static Snapshot open(const std::filesystem::path& path);
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) noexcept;
  ~Snapshot();

  const std::vector<Region>& regions() const noexcept;
  /// Values of the kernel's arguments, in order (prologues; empty in epilogues).
  const std::vector<std::vector<std::byte>>& args() const noexcept;
  SnapshotSizes sizes() const noexcept;
  /// Names of files in the same directory whose chunks this snapshot refers to (directly).
  const std::vector<std::string>& references() const noexcept;

  /// Reads [offset, offset + out.size()) of region `index`.
  /// \throws Error{OutOfRange}, Error{ArtifactCorrupt} naming file, region and chunk.
  void read(size_t index, uint64_t offset, std::span<std::byte> out) const;

  /// Content hashes of the chunks of region `index`, in order.
  std::vector<Hash128> chunkHashes(size_t index) const;

  /// Reads and checks everything, in parallel. \throws as read().
  void verifyAll() const;

private:
  struct Impl;
  explicit Snapshot(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Byte ranges of `epilogue`'s region `index` whose chunks differ from `prologue`'s region with the
/// same address and size (whole region if there is none), in units of whole chunks.
struct ChangedRange {
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
};
std::vector<ChangedRange> changedRanges(const Snapshot& prologue, const Snapshot& epilogue,
                                        size_t index);

} // namespace mneme::artifact
