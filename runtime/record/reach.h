// Room record: memory that a launch reaches only through pointers: in its arguments, and in memory
// it reaches already.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/base/word_ranges.h"
#include "runtime/record/device_access.h"

namespace mneme::record {

/// Which chunks are known to hold no address that could lead anywhere, so that of memory that did
/// not change nothing is read again.
class SearchHistory {
public:
  /// To be called before each search: what was found out about fewer ranges does not count.
  void begin(const WordRanges& ranges);
  /// The chunks of a region that have to be searched, now that they hash to this.
  std::vector<uint64_t> unknownChunks(const artifact::Region& region,
                                      std::span<const Hash128> hashes);
  void remember(const artifact::Region& region, std::span<const Hash128> hashes, uint64_t chunk,
                bool holdsAddress);
  void forgetAll() { known_.clear(); }

private:
  struct Known {
    uint64_t sizeBytes = 0;
    std::vector<Hash128> harmless; ///< per chunk the content without addresses; zero: none
    uint64_t lastSearch = 0;
  };
  std::vector<AddressRange> ranges_;
  std::unordered_map<uint64_t, Known> known_; ///< by address
  uint64_t search_ = 0;
};

/// Finds out which of some regions one launch could reach. A region is reached when a word holds
/// the address of any of its bytes: tagged in the lower bits or pointing into the middle, too.
class Reach {
public:
  using IsReadable = std::function<bool(const artifact::Region& region)>;
  /// `certain` is recorded in any case. Of candidates that overlap one counts. What is found but
  /// not readable is left out. The history must outlive it.
  Reach(std::vector<artifact::Region> candidates, const std::vector<artifact::Region>& certain,
        SearchHistory& history, IsReadable isReadable);

  /// Whether anything may still be found.
  bool isOpen() const noexcept { return open_ > 0; }
  /// Follows a word of an argument.
  void lookAt(uint64_t word);
  /// Searches regions that `access` has just hashed. \throws Error when the device fails
  void search(DeviceAccess& access, std::span<const HashTask> hashed);
  /// The candidates reached since the last call.
  std::vector<artifact::Region> takeFound();

private:
  void reach(size_t index);

  std::vector<artifact::Region> candidates_; ///< disjoint, by address
  WordRanges ranges_;                        ///< theirs, in the same order
  std::vector<bool> isSettled_;              ///< certain, or found
  size_t open_ = 0;
  std::vector<artifact::Region> found_;
  SearchHistory& history_;
  IsReadable isReadable_;
};

} // namespace mneme::record
