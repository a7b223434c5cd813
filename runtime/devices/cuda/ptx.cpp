#include "runtime/devices/cuda/ptx.h"

#include <algorithm>
#include <cstdlib>

namespace mneme::device::cuda {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view digits = "0123456789";

uint64_t numberAt(std::string_view text, size_t at) {
  const size_t end = std::min(text.find_first_not_of(digits, at), text.size());
  return std::strtoull(std::string(text.substr(at, end - at)).c_str(), nullptr, 10);
}

/// ".param .align 8 .b8 name[24]" has 24 bytes, ".param .u64 name" has 8.
uint64_t sizeOfParameter(std::string_view text) {
  uint64_t elementBytes = 0;
  for (size_t at = text.find('.'); at != std::string_view::npos; at = text.find('.', at + 1)) {
    const std::string_view kind = text.substr(at + 1, 1);
    const bool isType = kind == "b" || kind == "u" || kind == "s" || kind == "f";
    if (isType && digits.find(text.substr(at + 2, 1)) != std::string_view::npos &&
        at + 2 < text.size())
      elementBytes = numberAt(text, at + 2) / 8;
  }
  const size_t bracket = text.find('[');
  return bracket == std::string_view::npos ? elementBytes
                                           : elementBytes * numberAt(text, bracket + 1);
}

/// The text between the parentheses behind ".entry <kernel>".
std::string_view parametersOf(std::string_view text, const std::string& kernel) {
  constexpr std::string_view entry = ".entry";
  for (size_t at = text.find(entry); at != std::string_view::npos; at = text.find(entry, at + 1)) {
    const size_t name = text.find_first_not_of(blanks, at + entry.size());
    if (name == std::string_view::npos || text.substr(name, kernel.size()) != kernel)
      continue;
    const size_t open = text.find_first_not_of(blanks, name + kernel.size());
    if (open == std::string_view::npos || text[open] != '(')
      continue;
    const size_t close = text.find(')', open);
    if (close != std::string_view::npos)
      return text.substr(open + 1, close - open - 1);
  }
  return {};
}

} // namespace

std::string targetOfPtx(std::string_view text) {
  constexpr std::string_view directive = ".target";
  const size_t at = text.find(directive);
  if (at == std::string_view::npos)
    return "";
  const size_t begin = text.find_first_not_of(blanks, at + directive.size());
  if (begin == std::string_view::npos)
    return "";
  return std::string(text.substr(begin, text.find_first_of(", \t\r\n", begin) - begin));
}

std::vector<uint64_t> argumentSizesOfPtx(std::string_view text, const std::string& kernel) {
  std::vector<uint64_t> sizes;
  const std::string_view parameters = parametersOf(text, kernel);
  constexpr std::string_view directive = ".param";
  size_t at = parameters.find(directive);
  while (at != std::string_view::npos) {
    const size_t next = parameters.find(directive, at + directive.size());
    sizes.push_back(
        sizeOfParameter(parameters.substr(at + directive.size(), next - at - directive.size())));
    at = next;
  }
  return sizes;
}

} // namespace mneme::device::cuda
