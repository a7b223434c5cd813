// Room artifact: reads `DeviceState.*.mneme` files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"

namespace mneme::artifact {

/// File layout (little endian, version 2; version 1 is read too):
///   SnapshotHeader {magic "MNEMESNP", version, headerBytes, chunkBytes, tableOffset, tableBytes,
///                   tableChecksum, fileBytes}, then chunk payloads, then the table.
/// The table holds: referenced file names, regions (address, size, kind, name, annotation) and the
/// argument values. The chunks of a region are runs: all zero, stored in this file or in a
/// referenced one of the same directory, or as in the region's base, a region of the same size in a
/// referenced file, which may have a base in turn. A stored chunk has offset, stored size, codec
/// (raw or zstd) and the Hash128 of the raw bytes, which is checked on every read
/// (snapshot_table.h). The header is written last; a file without a valid header and table checksum
/// is not a snapshot.
struct SnapshotSizes {
  uint64_t rawBytes = 0;    ///< sum of region sizes
  uint64_t uniqueBytes = 0; ///< raw bytes whose content is stored in this file
  uint64_t storedBytes = 0; ///< size of this file
  uint64_t tables = 0;      ///< files that were opened with it, itself included: those of bases
  uint64_t tableBytes = 0;  ///< what was read of these
};

struct ByteRange {
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
};
/// Byte ranges of a region whose chunks differ between two snapshots.
using ChangedRange = ByteRange;

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
  /// Names of files in the same directory that this snapshot refers to, for chunks or as a base of
  /// a region.
  const std::vector<std::string>& references() const noexcept;
  /// Names of all files this snapshot needs, itself included: those with the tables of what its
  /// regions are based on, and those with its content. What is in them for others is not needed.
  /// Writers bound their number (kMaxNeededFiles).
  std::set<std::string> neededFiles() const;

  /// Reads [offset, offset + out.size()) of region `index`.
  /// \throws Error{OutOfRange}, Error{ArtifactCorrupt} naming file, region and chunk.
  void read(size_t index, uint64_t offset, std::span<std::byte> out) const;

  /// Content hashes of the chunks of region `index`, in order.
  std::vector<Hash128> chunkHashes(size_t index) const;

  /// Reads and checks everything, in parallel. \throws as read().
  void verifyAll() const;
  /// Checks that the files it refers to store its content where it says, by their tables. With that
  /// a recording is sound when what each of its files stores is.
  void verifyPlaces() const;
  /// Reads and checks what a file stores itself, in parallel. Needs no other file. \throws as
  /// open() and read().
  static void verifyStored(const std::filesystem::path& path);

private:
  friend std::vector<ChangedRange> changedRanges(const Snapshot& prologue, const Snapshot& epilogue,
                                                 size_t index);
  struct Impl;
  explicit Snapshot(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Byte ranges of `epilogue`'s region `index` whose chunks differ from `prologue`'s region with the
/// same address and size (whole region if there is none), in units of whole chunks.
std::vector<ChangedRange> changedRanges(const Snapshot& prologue, const Snapshot& epilogue,
                                        size_t index);

} // namespace mneme::artifact
