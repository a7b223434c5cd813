// Room core/artifact: reads `DeviceState.*.mneme` files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"

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
  uint64_t tables = 0;      ///< number of files whose tables were read: its own and those of bases
  uint64_t tableBytes = 0;  ///< size of these tables
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
  /// Returns the names of all files this snapshot needs, itself included: files with tables of its
  /// regions' bases and files with its content. Files that these need for other snapshots are not
  /// included. Writers bound their number (kMaxNeededFiles).
  std::set<std::string> neededFiles() const;
  /// Returns which bytes of these files this snapshot needs, by name: headers, tables of its
  /// regions' bases, and its content. Ascending, without overlaps. Files of the same sizes with
  /// these bytes replay alike.
  /// \throws as open()
  std::map<std::string, std::vector<ByteRange>> neededRanges() const;

  /// Reads [offset, offset + out.size()) of region `index`.
  /// \throws Error{OutOfRange}, Error{ArtifactCorrupt} naming file, region and chunk.
  void read(size_t index, uint64_t offset, std::span<std::byte> out) const;

  /// Content hashes of the chunks of region `index`, in order.
  std::vector<Hash128> chunkHashes(size_t index) const;

  /// Reads and checks everything, in parallel. \throws as read().
  void verifyAll() const;
  /// Checks by their tables that the files it refers to store its content in the stated places. A
  /// recording is sound if this holds and verifyStored() passes for each file.
  void verifyPlaces() const;
  /// Reads and checks the content that a file stores itself, in parallel. Needs no other file.
  /// \throws as open() and read().
  static void verifyStored(const std::filesystem::path& path);

private:
  friend std::vector<ChangedRange> changedRanges(const Snapshot& prologue, const Snapshot& epilogue,
                                                 size_t index);
  struct Impl;
  explicit Snapshot(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Returns the byte ranges of `epilogue`'s region `index` that differ from `prologue`'s region with
/// the same address and size, in whole chunks. Without such a region the range is the whole region.
std::vector<ChangedRange> changedRanges(const Snapshot& prologue, const Snapshot& epilogue,
                                        size_t index);

} // namespace mneme::artifact
