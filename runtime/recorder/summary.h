// Room recorder: the summary at the end of a recording.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/core/artifact/writer.h"

namespace mneme::record {

struct SummaryFacts {
  std::string directory;
  uint64_t kernels = 0;
  uint64_t launches = 0;
  uint64_t skipped = 0; ///< launches passed over first, by MNEME_SKIP_RECORDINGS
  uint64_t captureNs = 0;
  uint64_t finishNs = 0;
  artifact::WriterStatistics writer;
  std::vector<std::string> remarks;      ///< sentences about kept graphs and about sections
  std::map<std::string, uint64_t> notes; ///< reason to count
  std::set<std::string> unwanted;        ///< kernels launched, if --kernels matches none of them
};

/// Messages for programs that cannot be recorded.
extern const char* const kNotInstrumented;
extern const char* const kNoKernels;
std::string staticRuntime();
/// Why nothing was recorded of a program that has the vendor's runtime inside.
std::string nothingOfStaticRuntime();

/// Returns the lines for the user; empty if no kernel was launched.
std::vector<std::string> summaryLines(const SummaryFacts& facts);

/// "reason (3 times)"
std::string withCount(const std::string& reason, uint64_t times);

/// "1.5 GiB", "12 bytes".
std::string formatBytes(uint64_t bytes);

} // namespace mneme::record
