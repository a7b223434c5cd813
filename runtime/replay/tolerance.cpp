// Room replay: tolerance rules as text.
#include "runtime/replay/replay.h"

#include <array>
#include <charconv>
#include <cmath>

#include "runtime/core/base/error.h"

namespace mneme::replay {

namespace {

using device::NanPolicy;
using device::Norm;
using device::ThresholdKind;

constexpr std::array<std::pair<const char*, ThresholdKind>, 3> kKinds = {
    {{"abs", ThresholdKind::Absolute},
     {"rel", ThresholdKind::Relative},
     {"ulp", ThresholdKind::Ulp}}};
constexpr std::array<std::pair<const char*, Norm>, 4> kNorms = {
    {{"none", Norm::None}, {"l1", Norm::L1}, {"l2", Norm::L2}, {"linf", Norm::Linf}}};
constexpr std::array<std::pair<const char*, NanPolicy>, 3> kNans = {
    {{"nan-equal", NanPolicy::Equal},
     {"nan-bitwise", NanPolicy::Bitwise},
     {"nan-never", NanPolicy::Never}}};

template <typename Table, typename Value>
bool lookUp(const Table& table, const std::string& name, Value& value) {
  for (const auto& [known, meaning] : table)
    if (name == known) {
      value = meaning;
      return true;
    }
  return false;
}

template <typename Table, typename Value> const char* nameIn(const Table& table, Value value) {
  for (const auto& [known, meaning] : table)
    if (value == meaning)
      return known;
  return table[0].first;
}

std::vector<std::string> splitAtColons(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(
      ErrorCode::InvalidArgument,
      "tolerance '" + text + "' " + why +
          "; write [REGION=]TYPE:KIND:THRESHOLD[:NORM][:NAN], for example out=f32:rel:1e-5 "
          "(KIND abs, rel or ulp; NORM l1, l2 or linf; NAN nan-equal, nan-bitwise or nan-never)");
}

} // namespace

ToleranceRule parseToleranceRule(const std::string& text) {
  ToleranceRule rule;
  std::string rest = text;
  if (const size_t equals = text.rfind('='); equals != std::string::npos) {
    rule.region = text.substr(0, equals);
    rest = text.substr(equals + 1);
  }
  const std::vector<std::string> parts = splitAtColons(rest);
  if (parts.size() < 3)
    refuse(text, "is incomplete");
  rule.type = device::parseDataType(parts[0]);
  if (!lookUp(kKinds, parts[1], rule.kind))
    refuse(text, "has an unknown kind '" + parts[1] + "'");
  const char* end = parts[2].data() + parts[2].size();
  const auto [stop, error] = std::from_chars(parts[2].data(), end, rule.threshold);
  if (error != std::errc() || stop != end || !(rule.threshold >= 0) || std::isinf(rule.threshold))
    refuse(text, "has no threshold of zero or more");
  for (size_t i = 3; i < parts.size(); ++i)
    if (!lookUp(kNorms, parts[i], rule.norm) && !lookUp(kNans, parts[i], rule.nan))
      refuse(text, "has an unknown part '" + parts[i] + "'");
  return rule;
}

std::string toText(const ToleranceRule& rule) {
  char number[32];
  const auto end = std::to_chars(number, number + sizeof number, rule.threshold).ptr;
  std::string text = rule.region.empty() ? "" : rule.region + "=";
  text += std::string(device::nameOf(rule.type)) + ":" + nameIn(kKinds, rule.kind) + ":" +
          std::string(number, end);
  if (rule.norm != Norm::None)
    text += std::string(":") + nameIn(kNorms, rule.norm);
  if (rule.nan != NanPolicy::Equal)
    text += std::string(":") + nameIn(kNans, rule.nan);
  return text;
}

} // namespace mneme::replay
