#include "runtime/replay/labels.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "runtime/replay/element_hint.h"
#include "runtime/replay/text.h"

namespace mneme::replay {

namespace {

/// The site that holds `address`, or kNone. `sites` is ordered by recorded address.
size_t siteAt(const std::vector<Site>& sites, uint64_t address) {
  const auto behind =
      std::upper_bound(sites.begin(), sites.end(), address, [](uint64_t value, const Site& site) {
        return value < site.region.address;
      });
  if (behind == sites.begin())
    return kNone;
  const artifact::Region& region = std::prev(behind)->region;
  return address - region.address < region.sizeBytes ? behind - sites.begin() - 1 : kNone;
}

} // namespace

std::vector<Label> makeLabels(const std::vector<Site>& sites,
                              const std::vector<KernelArg>& arguments,
                              const std::vector<std::vector<std::byte>>& values,
                              const std::string& demangled) {
  std::vector<Label> labels(sites.size());
  const auto nameSite = [&](size_t argument, size_t offset, bool isPointer) {
    uint64_t pointer;
    std::memcpy(&pointer, values[argument].data() + offset, 8);
    const size_t site = siteAt(sites, pointer);
    if (site == kNone)
      return;
    std::string name = argument < arguments.size() ? arguments[argument].name : "";
    if (name.empty())
      name = "#" + std::to_string(argument);
    Label& label = labels[site];
    label.names.push_back(name);
    label.sources.push_back({argument, offset});
    if (label.rule.empty()) {
      label.rule = name;
      label.type = elementHint(demangled, argument);
      label.text = "argument '" + name + "'" +
                   (isPointer ? "" : " (pointer at byte " + std::to_string(offset) + ")");
    }
  };
  const auto isPointer = [&](size_t i) {
    const ArgKind kind = i < arguments.size() ? arguments[i].kind : ArgKind::Unknown;
    return values[i].size() == 8 && (kind == ArgKind::Pointer || kind == ArgKind::Unknown);
  };
  for (size_t i = 0; i < values.size(); ++i)
    if (isPointer(i))
      nameSite(i, 0, true);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].size() > 8)
      for (size_t offset = 0; offset + 8 <= values[i].size(); offset += 8)
        nameSite(i, offset, false);
  for (size_t i = 0; i < sites.size(); ++i) {
    const artifact::Region& region = sites[i].region;
    Label& label = labels[i];
    if (!region.name.empty()) {
      label.names.push_back(region.name);
      label.rule = region.name;
      label.text = "global '" + region.name + "'";
      label.global = region.name;
    }
    if (!region.annotation.tag.empty())
      label.names.push_back(region.annotation.tag);
    if (label.rule.empty()) {
      label.rule = hexText(region.address);
      label.text = "allocation";
    }
    label.text += " at " + hexText(region.address);
  }
  return labels;
}

bool isMeant(const ToleranceRule& rule, const Site& site, const Label& label) {
  if (rule.region.empty())
    return true;
  if (rule.region.starts_with("0x")) {
    uint64_t address = 0;
    const char* end = rule.region.data() + rule.region.size();
    const auto parsed = std::from_chars(rule.region.data() + 2, end, address, 16);
    return parsed.ec == std::errc() && parsed.ptr == end && address >= site.region.address &&
           address - site.region.address < site.region.sizeBytes;
  }
  return std::find(label.names.begin(), label.names.end(), rule.region) != label.names.end();
}

} // namespace mneme::replay
