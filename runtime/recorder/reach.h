// Room recorder: finds memory that a launch reaches only through pointers, in its arguments and in
// memory that it reaches already.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/core/base/word_ranges.h"
#include "runtime/recorder/device_access.h"

namespace mneme::record {

/// Remembers chunks without addresses, so that unchanged memory is not searched again.
class SearchHistory {
public:
  /// Call it before each search: results for fewer ranges do not count.
  void begin(const WordRanges& ranges);
  /// Returns the chunks of a region that must be searched, given their present hashes.
  std::vector<uint64_t> unknownChunks(const artifact::Region& region,
                                      std::span<const Hash128> hashes);
  void remember(const artifact::Region& region, std::span<const Hash128> hashes, uint64_t chunk,
                bool holdsAddress);
  void forgetAll() { known_.clear(); }

private:
  struct Known {
    uint64_t sizeBytes = 0;
    std::vector<Hash128> harmless; ///< per chunk the hash of content without addresses; zero: none
    uint64_t lastSearch = 0;
  };
  std::vector<AddressRange> ranges_;
  std::unordered_map<uint64_t, Known> known_; ///< by address
  uint64_t search_ = 0;
};

/// Finds the candidate regions that a launch could reach. A region is reached if a word contains
/// the address of any of its bytes, also with tags in the lower bits or in the middle of the
/// region.
class Reach {
public:
  using IsReadable = std::function<bool(const artifact::Region& region)>;
  /// Memory that nobody lists: what a word leads to is asked about one by one.
  struct Asked {
    artifact::Region region;
    bool isFollowed = true; ///< whether words in it may be pointers
  };
  struct OnDemand {
    std::vector<AddressRange> ranges; ///< where words in memory may lead to; disjoint
    /// Returns readable memory around an address; nothing where there is none.
    std::function<std::optional<Asked>(uint64_t address, bool isArgument)> find;
  };
  /// `certain` is recorded in any case. Overlapping candidates count once. Regions that are found
  /// but not readable are left out. Whatever reaches a candidate that begins or ends at one of
  /// `joints` reaches the one that it touches there. The history must outlive this object.
  Reach(std::vector<artifact::Region> candidates, const std::vector<artifact::Region>& certain,
        SearchHistory& history, IsReadable isReadable, std::set<uint64_t> joints = {},
        OnDemand onDemand = {});

  /// Whether more regions may be found.
  bool isOpen() const noexcept { return open_ > 0 || mayAsk(); }
  /// Whether so much memory was found on demand that no more is looked for.
  bool isFull() const noexcept { return asked_.size() >= kMostAsked; }
  /// Follows a word of an argument.
  void lookAt(uint64_t word);
  /// Searches regions that `access` has just hashed. \throws Error if the device fails
  void search(DeviceAccess& access, std::span<const HashTask> hashed);
  /// Returns the candidates reached since the last call.
  std::vector<artifact::Region> takeFound();

private:
  static constexpr size_t kMostAsked = 1 << 16;
  bool mayAsk() const noexcept { return onDemand_.find && !isFull(); }
  void addOnDemand(const std::vector<artifact::Region>& certain);
  void ask(uint64_t word, bool isArgument);
  void askAbout(DeviceAccess& access, std::span<const Piece> pieces,
                std::span<const uint8_t> holdsAddress);
  void reach(size_t index);
  bool settle(size_t index);

  std::vector<artifact::Region> candidates_; ///< disjoint, by address
  WordRanges ranges_;                        ///< of the candidates, in the same order
  std::vector<bool> isSettled_;              ///< whether it is certain, or found
  std::vector<bool> isAsked_;                ///< whether it is a range of memory on demand
  size_t open_ = 0;
  std::vector<artifact::Region> found_;
  SearchHistory& history_;
  IsReadable isReadable_;
  std::set<uint64_t> joints_;
  OnDemand onDemand_;
  std::map<uint64_t, uint64_t> taken_; ///< what is recorded in any case, or a candidate: its end
  std::map<uint64_t, uint64_t> asked_; ///< what was found on demand: its end
  std::set<uint64_t> unfollowed_;      ///< begins of what is not searched
};

} // namespace mneme::record
