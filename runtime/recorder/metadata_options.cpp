#include "runtime/recorder/metadata_options.h"

#include <nlohmann/json.hpp>

namespace mneme::record {

std::string optionsOf(const std::string& metadataJson) {
  const auto metadata = nlohmann::json::parse(metadataJson, nullptr, false);
  return metadata.is_object() && metadata.contains("options") ? metadata["options"].dump() : "";
}

std::vector<std::string> unrecordedReadsOf(const std::string& metadataJson) {
  const auto metadata = nlohmann::json::parse(metadataJson, nullptr, false);
  std::vector<std::string> reads;
  const nlohmann::json::json_pointer place("/options/unrecorded_reads");
  if (metadata.is_object() && metadata.contains(place) && metadata[place].is_array())
    for (const auto& read : metadata[place])
      if (read.is_string())
        reads.push_back(read.get<std::string>());
  return reads;
}

bool writesNothing(const std::string& metadataJson) {
  const auto metadata = nlohmann::json::parse(metadataJson, nullptr, false);
  return metadata.is_object() && metadata.value("writes_nothing", false);
}

std::string withUnrecordedReads(const std::string& optionsJson,
                                const std::set<std::string>& reads) {
  auto options = nlohmann::json::parse(optionsJson, nullptr, false);
  if (!options.is_object())
    return optionsJson;
  options.erase("unrecorded_reads");
  if (!reads.empty())
    options["unrecorded_reads"] = reads;
  return options.dump();
}

std::string optionsOfTriton(const std::string& producer, unsigned ptxVersion) {
  // Triton addresses shared memory by 32 bits.
  return nlohmann::json{{"opt_level", "3"},
                        {"llvm_options", nlohmann::json::array({"nvptx-short-ptr=true"})},
                        {"ptx_version", ptxVersion},
                        {"producer", producer}}
      .dump();
}

} // namespace mneme::record
