#include "runtime/recorder/kernel_filter.h"

#include <algorithm>

namespace mneme::record {
namespace {

/// std::regex recurses once per character: longer names are cut, not matched to the end.
constexpr size_t kMaxMatchedName = 4096;

/// The alternatives of a regular expression.
std::vector<std::string> alternativesOf(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (size_t index = 0; index < text.size(); ++index) {
    const char letter = text[index];
    if (letter == '|' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += letter;
    if (letter == '\\' && index + 1 < text.size())
      parts.back() += text[++index];
    else if (letter == '(' || letter == '[')
      ++depth;
    else if (letter == ')' || letter == ']')
      --depth;
  }
  return parts;
}

} // namespace

KernelFilter KernelFilter::parse(const std::string& text) {
  KernelFilter filter;
  std::optional<std::string> expression;
  for (const std::string& part : alternativesOf(text))
    if (const std::optional<SourceLine> line = SourceLine::parse(part))
      filter.lines.push_back(*line);
    else
      expression = expression ? *expression + "|" + part : part;
  if (!text.empty() && expression)
    filter.names = std::regex(*expression, std::regex::ECMAScript | std::regex::optimize);
  return filter;
}

bool KernelFilter::wants(const std::string& mangled, const std::string& demangled,
                         const SourcePlace& place) const {
  return isEmpty() ||
         std::ranges::any_of(lines, [&](const SourceLine& line) { return line.isIn(place); }) ||
         wantsLabel(mangled) || wantsLabel(demangled);
}

bool KernelFilter::wantsLabel(const std::string& label) const {
  return names && std::regex_search(label.substr(0, kMaxMatchedName), *names);
}

} // namespace mneme::record
