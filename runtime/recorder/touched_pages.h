// Room recorder: which pages of this process hold something, without touching the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mneme::record {

/// The size of the system's pages, of which /proc/self/pagemap has one entry each.
uint64_t systemPageBytes() noexcept;

/// Not thread-safe.
class TouchedPages {
public:
  /// Returns the first page in [from, end) that was touched, also if it is swapped out or on a
  /// device; `end` if there is none. Both are begins of pages. Returns nothing if the system does
  /// not tell, or after so many pages that looking on would take long.
  std::optional<uint64_t> next(uint64_t from, uint64_t end);

private:
  bool read(uint64_t from, uint64_t end);

  std::vector<uint64_t> entries_;
  uint64_t begin_ = 0; ///< the page of the first entry
  uint64_t read_ = 0;  ///< entries, all together
};

} // namespace mneme::record
