// Room core/artifact (internal): bounds the number of files that a snapshot needs, when it is
// written.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/core/artifact/chunk_index.h"
#include "runtime/core/artifact/ledger.h"

namespace mneme::artifact {

/// The largest number of files that a written snapshot needs, itself included: files with tables of
/// bases and files with content. A reader opens each of them, and a copy of the record includes
/// them. docs/artifacts.md has the costs of other bounds.
inline constexpr size_t kMaxNeededFiles = 128;
/// A snapshot that would exceed the bound is reduced to this many files, so that the next one need
/// not be reduced again.
inline constexpr size_t kKeptFiles = kMaxNeededFiles / 2;

/// Opening a file costs as much as reading this many bytes of tables: about 40 us, at 2 to 3 ns per
/// byte.
inline constexpr uint64_t kFileCostBytes = 16 * 1024;

/// Gives up bases until opening the snapshot costs at most twice as much as if it described
/// everything itself (kFileCostBytes per file, plus the tables). First each region uses the last
/// base of its chain; then regions are written in full, those first whose base saves least.
void boundTables(std::vector<RegionPlan>& plans);

/// Finds content that a snapshot may refer to.
class ContentPlaces {
public:
  virtual ~ContentPlaces() = default;
  virtual std::optional<ChunkPlace> find(const Hash128& hash) const = 0;
  virtual std::string nameOf(uint32_t file) const = 0;
  virtual uint32_t fileOf(const std::string& name) const = 0;
};

/// What a snapshot stores itself because its content would lie in too many files.
struct StoreAgain {
  bool isNeeded = false;
  /// The snapshot may refer to content in these files; content of all others is copied.
  std::set<std::string> kept;
  /// Where to copy content from that only bases refer to.
  HashMap<ChunkPlace> places;
};

/// Bounds the number of files with content to what kMaxNeededFiles leaves besides tables. Content
/// in the files that hold least of the snapshot is stored again; the plans then list such chunks
/// themselves even if they equal the base's.
/// \param own  name of the snapshot's own file
StoreAgain boundContent(std::vector<RegionPlan>& plans, const ContentPlaces& places,
                        const std::string& own);

} // namespace mneme::artifact
