// Room artifact (internal): how many files a snapshot needs is bounded when it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/chunk_index.h"
#include "runtime/artifact/ledger.h"

namespace mneme::artifact {

/// A snapshot that is written needs at most this many files, itself included: those with tables of
/// bases and those with content. Each is opened by who reads the snapshot, and carried by who
/// copies its record. See docs/artifacts.md for what other bounds cost.
inline constexpr size_t kMaxNeededFiles = 128;
/// Beyond the bound so many remain, so that the next snapshot does not have to do it again.
inline constexpr size_t kKeptFiles = kMaxNeededFiles / 2;

/// Opening a file costs as much as reading this many bytes of tables: some 40 us, at 2 to 3 ns per
/// byte.
inline constexpr uint64_t kFileCostBytes = 16 * 1024;

/// Gives up bases until opening the snapshot costs at most twice as much as if it described
/// everything itself (kFileCostBytes per file, and the tables): regions are written against the
/// lowest they are based on, then in full where a base saves least.
void boundTables(std::vector<RegionPlan>& plans);

/// Where content is that a snapshot may refer to.
class ContentPlaces {
public:
  virtual ~ContentPlaces() = default;
  virtual std::optional<ChunkPlace> find(const Hash128& hash) const = 0;
  virtual std::string nameOf(uint32_t file) const = 0;
  virtual uint32_t fileOf(const std::string& name) const = 0;
};

/// What a snapshot whose content would lie in too many files stores itself.
struct StoreAgain {
  bool isNeeded = false;
  /// Else: content may be referred to in these files only, and is copied from all others.
  std::set<std::string> kept;
  /// Where content that only bases refer to is copied from.
  HashMap<ChunkPlace> places;
};

/// Bounds the number of files with content to what kMaxNeededFiles leaves beside tables: of the
/// files that hold least of the snapshot the content is stored again, and chunks that were as in a
/// base are given by the plans themselves.
/// \param own  name of the snapshot's own file
StoreAgain boundContent(std::vector<RegionPlan>& plans, const ContentPlaces& places,
                        const std::string& own);

} // namespace mneme::artifact
