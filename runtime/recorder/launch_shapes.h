// Room recorder: selects the launches of a kernel to record by their dimensions
// (MNEME_RECORD_DIMS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"

namespace mneme::record {

/// A list of `[KERNEL:]GRID/BLOCK[/SHARED][@FIRST]` with `;` between:
/// "64x8/256;_Z1kPf:128/32x32/4096@50". Missing axes are 1. KERNEL is a mangled name. SHARED is
/// dynamic shared memory in bytes, any size if missing. FIRST is how many such launches to pass
/// over first.
class LaunchShapes {
public:
  /// The result of matching a launch with the list.
  struct Match {
    bool isWanted = true;
    size_t entry = 0;      ///< from 1 on; 0: no entry names the kernel
    uint64_t ofKernel = 1; ///< number of entries for the kernel
    uint64_t first = 0;    ///< launches of this entry to pass over first

    /// Returns how many of `most` recordings of the kernel are for this entry.
    uint64_t share(uint64_t most) const { return most / ofKernel + (most % ofKernel != 0); }
  };

  /// Returns nothing if the text is not such a list.
  static std::optional<LaunchShapes> parse(std::string_view text);

  /// Kernels without an entry match with any dimensions.
  Match match(std::string_view kernel, const mneme_launch& launch) const;

private:
  struct Entry {
    std::string kernel; ///< empty: any
    mneme_dim3 grid, block;
    std::optional<uint64_t> sharedBytes;
    uint64_t first = 0;
  };
  static std::optional<Entry> parseEntry(std::string_view text);

  std::vector<Entry> entries_;
};

} // namespace mneme::record
