// Room record: the one thing the recorder reads from a blob's metadata text.
#pragma once

#include <string>

namespace mneme::record {

/// The "options" object of a kernel blob's metadata as JSON text; empty if there is none.
std::string optionsOf(const std::string& metadataJson);

} // namespace mneme::record
