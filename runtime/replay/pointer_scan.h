// Room replay: finds pointers into address ranges that no longer have memory.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/replay/upload.h"

namespace mneme::replay {

/// Looks for values that point into one of a few regions. The regions must outlive it.
class PointerScan {
public:
  explicit PointerScan(std::vector<const artifact::Region*> regions);

  bool isEmpty() const noexcept { return regions_.empty(); }
  void inspectArguments(const std::vector<std::vector<std::byte>>& values);
  /// Returns a function that checks every pointer-sized value at a pointer-aligned address. It
  /// refers to this object.
  PieceInspector inspector();
  /// \throws Error{AddressUnavailable} naming the first pointer found and what it points to.
  void throwIfFound() const;

private:
  void inspect(std::span<const std::byte> bytes, uint64_t address, const std::string& where);

  std::vector<const artifact::Region*> regions_;
  uint64_t begin_ = 0; ///< the range that holds all regions
  uint64_t span_ = 0;
  mutable std::mutex mutex_;
  std::string found_;
};

} // namespace mneme::replay
