// Room recorder: reads parts of a blob's metadata text.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace mneme::record {

/// Returns the "options" object of a kernel blob's metadata as JSON text; empty if there is none.
std::string optionsOf(const std::string& metadataJson);

/// Returns "unrecorded_reads" of a blob's metadata: what its code reads that no recording contains.
std::vector<std::string> unrecordedReadsOf(const std::string& metadataJson);

/// Whether the metadata says that the code writes to no memory.
bool writesNothing(const std::string& metadataJson);

/// Returns `optionsJson` with these reads instead of its own.
std::string withUnrecordedReads(const std::string& optionsJson, const std::set<std::string>& reads);

/// Returns options for IR that Triton made and optimised: "Triton 3.5.0".
/// `ptxVersion`: 87 for 8.7; 0: unknown.
std::string optionsOfTriton(const std::string& producer, unsigned ptxVersion);

} // namespace mneme::record
