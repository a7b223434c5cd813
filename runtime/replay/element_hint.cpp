#include "runtime/replay/element_hint.h"

#include <algorithm>
#include <array>

namespace mneme::replay {
namespace {

constexpr std::array kHalfNames = {"half", "_Float16"};
constexpr std::array kBfloatNames = {"bfloat16", "__bf16"};

/// What stands in the last pair of parentheses; empty if there is none.
std::string_view parametersOf(std::string_view text) {
  const size_t end = text.rfind(')');
  if (end == std::string_view::npos)
    return {};
  int depth = 0;
  for (size_t at = end + 1; at-- > 0;) {
    depth += (text[at] == ')') - (text[at] == '(');
    if (depth == 0)
      return text.substr(at + 1, end - at - 1);
  }
  return {};
}

/// Element `index` of a list with commas, those inside brackets apart.
std::string_view elementOf(std::string_view list, size_t index) {
  int depth = 0;
  size_t start = 0;
  for (size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    depth += (c == '(' || c == '<') - (c == ')' || c == '>');
    if (c != ',' || (depth != 0 && at < list.size()))
      continue;
    if (index-- == 0)
      return list.substr(start, at - start);
    start = at + 1;
  }
  return {};
}

template <typename Names> bool namesOneOf(std::string_view type, const Names& names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return type.find(name) != std::string_view::npos;
  });
}

} // namespace

std::optional<device::DataType> elementHint(std::string_view demangled, size_t index) {
  const std::string_view type = elementOf(parametersOf(demangled), index);
  const bool isHalf = namesOneOf(type, kHalfNames);
  const bool isBfloat = namesOneOf(type, kBfloatNames);
  if (isHalf == isBfloat || type.find("float*") != std::string_view::npos ||
      type.find("double") != std::string_view::npos)
    return std::nullopt;
  return isHalf ? device::DataType::F16 : device::DataType::BF16;
}

} // namespace mneme::replay
