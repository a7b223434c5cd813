// Room recorder: pageable memory of the host (malloc, variables, the stack, mapped files), which
// kernels use on devices that read it by the host's addresses.
//
// Nobody tells the recorder of such memory, and other threads, its own included, write to what lies
// beside it. So memory is recorded in pieces whose bounds are known. docs/recording.md says which.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/base/word_ranges.h"
#include "runtime/recorder/host_mappings.h"
#include "runtime/recorder/host_variables.h"
#include "runtime/recorder/malloc_blocks.h"

namespace mneme::record {

/// Not thread-safe.
class PageableMemory {
public:
  struct Piece {
    AddressRange range;
    /// Whether these are the bounds of what the program took; otherwise it is a mapping that other
    /// memory may lie in, too.
    bool isExact = true;
  };

  /// Looks at what is mapped now. Forgets what find() returned. Call both from the thread that
  /// launches, with the same callers in the program.
  void look();
  /// Why the system lets no memory be read, so that none is found: an error number, or 0.
  int refusal() const noexcept { return refusal_; }
  /// Whether blocks of malloc are there that find() does not know, since look() could not tell them
  /// apart.
  bool missesBlocks() const noexcept { return blocks_.isHeapLost(); }
  /// Where find() may find memory that can be written, in few and wide ranges.
  std::vector<AddressRange> ranges() const;
  /// How an address is known. What merely lies in memory may be no pointer of the kernel's: it
  /// leads to blocks of malloc, frames and variables of the program, and no further.
  enum class Given : uint8_t { AsArgument, InMemory };
  /// Returns the memory around an address; nothing where its bounds are unknown.
  /// \throws Error if the system refuses to read what it could read before
  std::optional<Piece> find(uint64_t address, Given given);
  /// Increases with every look().
  uint64_t looks() const noexcept { return looks_; }
  /// Whether find() has returned a piece that begins here.
  bool isFound(uint64_t address) const { return found_.contains(address); }

private:
  std::optional<Piece> pieceAt(uint64_t address, Given given);
  std::optional<Piece> blockAt(const Mapping& mapping, uint64_t address);
  std::optional<Piece> mappedAt(const Mapping& mapping, uint64_t address);
  std::optional<AddressRange> frameAt(uint64_t address);
  bool isBehindGuard(const Mapping& mapping) const noexcept;

  std::vector<Mapping> mappings_;
  AddressRange stack_;                          ///< the mapping that has the stack of the thread
  std::optional<std::vector<uint64_t>> frames_; ///< null: not asked for yet
  int refusal_ = 0;
  HostVariables variables_;
  MallocBlocks blocks_;
  std::set<uint64_t> found_;
  uint64_t looks_ = 0;
};

} // namespace mneme::record
