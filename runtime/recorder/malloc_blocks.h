// Room recorder: the blocks of glibc's malloc, found from the sizes that it keeps in front of them.
// Asks malloc nothing, and takes none of its locks.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "runtime/core/base/word_ranges.h"
#include "runtime/recorder/host_mappings.h"

namespace mneme::record {

/// Blocks as they were when a mapping was first asked about since look(). Another allocator's
/// memory is not taken for glibc's: a heap counts if its sizes lead from its begin to its very end.
/// Reads pages only that were touched, and a limited number. Not thread-safe.
class MallocBlocks {
public:
  /// What is in the memory of a mapping at an address.
  struct Part {
    AddressRange range;
    /// Whether it is a block that malloc gave out. Otherwise nothing is known of these pages, and
    /// no block that malloc has mapped by itself is among them.
    bool isBlock = false;
  };

  /// Heaps of more blocks count as unknown.
  static constexpr uint64_t kMostChunks = 4 << 20;
  /// So many touched pages of anonymous memory are looked at for blocks, in each mapping.
  static constexpr uint64_t kMostPages = 256 << 10;

  /// A heap that was known is waited for while another thread changes it: the thread may wait for a
  /// core in the middle of that.
  static constexpr std::chrono::milliseconds kPatience{20};

  /// Asks malloc how it marks small blocks that a thread keeps for its next calls.
  explicit MallocBlocks(uint64_t mostChunks = kMostChunks, uint64_t mostPages = kMostPages,
                        std::chrono::microseconds patience = kPatience);

  /// Begins anew, with what is mapped now. What is known of anonymous memory stays known while the
  /// mapping is the same and has the same blocks.
  void look(std::span<const Mapping> mappings);
  /// How many headers of pages were read so far.
  uint64_t pagesRead() const noexcept { return pagesRead_; }

  /// A block in the heap that the process extends (brk); nothing where it is free, or the heap is
  /// not glibc's.
  std::optional<AddressRange> inHeap(const Mapping& heap, uint64_t address);
  /// Whether that heap was glibc's before, but its blocks could not be told apart since look().
  bool isHeapLost() const noexcept { return isHeapLost_; }
  /// A block in a heap of another thread than the first: those are at multiples of 64 MiB.
  std::optional<AddressRange> inArena(const Mapping& mapping, uint64_t address);
  /// Whether the mapping begins with such a heap.
  bool isArena(const Mapping& mapping);
  /// Anonymous memory, in which large blocks are mapped by themselves.
  std::optional<Part> inAnonymous(const Mapping& mapping, uint64_t address);

private:
  /// The begins of chunks. The lowest bit says whether the chunk before is in use, the next whether
  /// a thread keeps this one. The last chunk is not given out.
  using Chunks = std::vector<uint64_t>;
  struct Anonymous {
    uint64_t end = 0; ///< of the mapping
    std::vector<Part> parts;
    bool isSure = false; ///< since look()
  };
  std::optional<Chunks> walk(uint64_t begin, uint64_t end, uint64_t (*endNow)()) const;
  std::optional<Chunks> walkArena(const Mapping& mapping) const;
  std::vector<Part> scan(const Mapping& mapping);
  void learnMark();
  bool hasSameBlocks(std::span<const Part> parts, uint64_t end);
  static std::optional<AddressRange> find(const std::optional<Chunks>& chunks, uint64_t address);

  uint64_t mark_ = 0; ///< of such small blocks, in their second word; 0: unknown
  std::map<uint64_t, std::optional<Chunks>> heaps_; ///< by the begin of the mapping
  uint64_t knownHeap_ = 0;                          ///< the begin of one that was glibc's
  int timesLost_ = 0;                               ///< since it was known
  bool isHeapLost_ = false;
  std::map<uint64_t, std::optional<Chunks>> arenas_;
  std::map<uint64_t, Anonymous> anonymous_;
  uint64_t mostChunks_, mostPages_;
  std::chrono::microseconds patience_;
  uint64_t pagesRead_ = 0;
};

} // namespace mneme::record
