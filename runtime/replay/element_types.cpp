#include "runtime/replay/element_types.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/devices/compare.h"
#include "runtime/replay/type_guess.h"

namespace mneme::replay {

namespace {

using Json = nlohmann::json;

/// Whether an entry of "elements" is about the memory with this label.
bool isAbout(const Json& element, const Label& label) {
  if (element.contains("global"))
    return label.global == element.value("global", "");
  const size_t argument = element.value("arg", size_t{0}), offset = element.value("offset", 0u);
  return std::any_of(label.sources.begin(), label.sources.end(), [&](const Source& source) {
    return source.argument == argument && source.offset == offset;
  });
}

/// What the code says of a region that all these entries are about.
SiteElements merged(const std::vector<const Json*>& entries) {
  SiteElements all;
  for (const Json* entry : entries) {
    const std::string name = entry->value("type", "");
    std::optional<device::DataType> type;
    if (!name.empty())
      type = device::parseDataType(name);
    const bool isOther = all.isKnown && all.type != type;
    all.type = isOther ? std::nullopt : type;
    all.isUnordered |= entry->value("unordered", false);
    all.isKnown = true;
    if (isOther)
      return all;
  }
  return all;
}

SiteElements elementsOf(const Label& label, const Json& elements) {
  std::vector<const Json*> about;
  for (const Json& element : elements)
    if (element.is_object() && isAbout(element, label))
      about.push_back(&element);
  const auto isStored = [](const Json* element) { return element->value("stored", false); };
  if (std::any_of(about.begin(), about.end(), isStored))
    std::erase_if(about, [&](const Json* element) { return !isStored(element); });
  SiteElements found = merged(about);
  // Numbers of 16 bits are integers in code of older headers; the signature knows better.
  if (label.type && !(found.type && isFloating(*found.type))) {
    found.isKnown = true;
    found.type = label.type;
  }
  return found;
}

} // namespace

const SiteElements& ElementTypes::of(size_t site) {
  if (sites_.empty())
    ask();
  return sites_[site];
}

void ElementTypes::ask() {
  Json elements = Json::array();
  try {
    const Json statistics = Json::parse(describe_(), nullptr, false);
    if (statistics.is_object() && statistics.contains("elements"))
      elements = statistics["elements"];
  } catch (const Error& error) {
    log(LogLevel::Info,
        std::string("what the kernel stores is not known from its code: ") + error.what());
  }
  for (const Label& label : labels_)
    sites_.push_back(elementsOf(label, elements));
}

} // namespace mneme::replay
