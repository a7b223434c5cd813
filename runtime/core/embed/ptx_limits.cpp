#include "runtime/core/embed/ptx_limits.h"

#include <cctype>
#include <optional>
#include <string_view>

#include "runtime/core/base/error.h"
#include "runtime/core/embed/jit_options.h"

namespace mneme::embed {
namespace {

constexpr std::string_view kEntry = ".entry", kLimit = ".maxnreg";

bool isBlank(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }

size_t skipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && isBlank(text[at]))
    ++at;
  return at;
}

/// Where directives of the kernel stand: between its parameters and its body.
struct Directives {
  size_t begin, end;
};

std::optional<Directives> directivesOf(std::string_view text, std::string_view kernel) {
  for (size_t at = text.find(kEntry); at != text.npos; at = text.find(kEntry, at + 1)) {
    size_t next = skipBlanks(text, at + kEntry.size());
    if (!text.substr(next).starts_with(kernel))
      continue;
    next = skipBlanks(text, next + kernel.size());
    if (next < text.size() && text[next] == '(')
      next = text.find(')', next) + 1; // 0 if it is not there
    else if (next == text.size() || (text[next] != '{' && text[next] != '.'))
      continue; // a longer name
    const size_t body = text.find_first_of("{;", next);
    if (next != 0 && body != text.npos && text[body] == '{')
      return Directives{next, body};
  }
  return std::nullopt;
}

/// Without the limit that is there.
std::string withoutLimit(std::string directives) {
  const size_t begin = directives.find(kLimit);
  if (begin == directives.npos)
    return directives;
  size_t end = skipBlanks(directives, begin + kLimit.size());
  while (end < directives.size() && std::isdigit(static_cast<unsigned char>(directives[end])))
    ++end;
  return directives.erase(begin, end - begin);
}

} // namespace

std::vector<std::byte> withRegisterLimit(const std::vector<std::byte>& ptx,
                                         const std::string& kernel, uint32_t registers) {
  const std::string_view text(reinterpret_cast<const char*>(ptx.data()), ptx.size());
  const std::optional<Directives> place = directivesOf(text, kernel);
  if (!place)
    throw Error(ErrorCode::ArtifactCorrupt, "the recorded PTX defines no kernel '" + kernel + "'");
  const std::string own(text.substr(place->begin, place->end - place->begin));
  std::string changed(text.substr(0, place->begin));
  changed += "\n" + std::string(kLimit) + " " + std::to_string(registers) + withoutLimit(own);
  changed += text.substr(place->end);
  setJitLimit(changed, registers);
  const auto* begin = reinterpret_cast<const std::byte*>(changed.data());
  return {begin, begin + changed.size()};
}

} // namespace mneme::embed
