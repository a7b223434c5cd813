#include "runtime/record/metadata_options.h"

#include <nlohmann/json.hpp>

namespace mneme::record {

std::string optionsOf(const std::string& metadataJson) {
  const auto metadata = nlohmann::json::parse(metadataJson, nullptr, false);
  return metadata.is_object() && metadata.contains("options") ? metadata["options"].dump() : "";
}

} // namespace mneme::record
