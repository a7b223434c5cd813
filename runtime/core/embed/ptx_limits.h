// Room core/embed: limits that PTX states of a kernel, and that can be changed without IR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mneme::embed {

/// Zero: what the text says.
struct PtxLimits {
  uint32_t registers = 0;  ///< of a thread (`.maxnreg`)
  uint32_t maxThreads = 0; ///< of a block (`.maxntid`); an exact number (`.reqntid`) stays
  uint32_t minBlocks = 0;  ///< on a multiprocessor (`.minnctapersm`), with `maxThreads`

  bool isAny() const noexcept { return registers != 0 || maxThreads != 0; }
};

/// Returns the text with these limits of a kernel, in place of those that are there. Other bounds
/// of a block replace those of the text as a whole.
/// \throws Error{ArtifactCorrupt} if the text defines no such kernel
std::vector<std::byte> withLimits(const std::vector<std::byte>& ptx, const std::string& kernel,
                                  const PtxLimits& limits);

} // namespace mneme::embed
