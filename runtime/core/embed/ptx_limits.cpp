#include "runtime/core/embed/ptx_limits.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "runtime/core/base/error.h"
#include "runtime/core/embed/jit_options.h"

namespace mneme::embed {
namespace {

constexpr std::string_view kEntry = ".entry", kPragma = ".pragma"; // the latter ends with ';'
constexpr std::string_view kRegisters = ".maxnreg", kMaxThreads = ".maxntid",
                           kExactThreads = ".reqntid", kMinBlocks = ".minnctapersm";

bool isBlank(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }
bool isDigit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }
bool isWordPart(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '$' ||
         letter == '%';
}

size_t skipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && isBlank(text[at]))
    ++at;
  return at;
}

/// The text with blanks in place of comments and of what stands in quotes; lines stay.
std::string withoutComments(std::string_view text) {
  std::string plain(text);
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool isLine = rest.starts_with("//"), isQuoted = text[at] == '"';
    if (!isLine && !isQuoted && !rest.starts_with("/*")) {
      ++at;
      continue;
    }
    const std::string_view close = isLine ? "\n" : isQuoted ? "\"" : "*/";
    size_t end = rest.find(close, isQuoted ? 1 : 2);
    end = end == rest.npos ? text.size() : at + end + (isLine ? 0 : close.size());
    for (; at < end; ++at)
      if (plain[at] != '\n')
        plain[at] = ' ';
  }
  return plain;
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
    size_t body = text.find_first_of("{;", next);
    for (size_t begin = next; body != text.npos && text[body] == ';' &&
                              text.substr(begin, body - begin).find(kPragma) != text.npos;) {
      begin = body + 1;
      body = text.find_first_of("{;", begin);
    }
    if (next != 0 && body != text.npos && text[body] == '{')
      return Directives{next, body};
  }
  return std::nullopt;
}

/// Where a directive stands as a whole word.
size_t placeOf(std::string_view plain, std::string_view directive) {
  size_t at = plain.find(directive);
  while (at != plain.npos && at + directive.size() < plain.size() &&
         isWordPart(plain[at + directive.size()]))
    at = plain.find(directive, at + 1);
  return at;
}

/// Leaves out a directive and its numbers, "128, 1, 1". \param plain  as `text`, without comments
void remove(std::string& text, std::string& plain, std::string_view directive) {
  const size_t begin = placeOf(plain, directive);
  if (begin == plain.npos)
    return;
  size_t end = begin + directive.size();
  for (size_t next = skipBlanks(plain, end); next < plain.size();) {
    const size_t number = next;
    if (!isDigit(plain[number]))
      break;
    while (next < plain.size() && isWordPart(plain[next])) // hexadecimal ones have letters
      ++next;
    end = next;
    next = skipBlanks(plain, next);
    if (next == plain.size() || plain[next] != ',')
      break;
    next = skipBlanks(plain, next + 1);
  }
  text.erase(begin, end - begin);
  plain.erase(begin, end - begin);
}

} // namespace

std::vector<std::byte> withLimits(const std::vector<std::byte>& ptx, const std::string& kernel,
                                  const PtxLimits& limits) {
  const std::string_view text(reinterpret_cast<const char*>(ptx.data()), ptx.size());
  const std::string plain = withoutComments(text);
  const std::optional<Directives> place = directivesOf(plain, kernel);
  if (!place)
    throw Error(ErrorCode::ArtifactCorrupt, "the recorded PTX defines no kernel '" + kernel + "'");
  std::string own(text.substr(place->begin, place->end - place->begin));
  std::string ownPlain = plain.substr(place->begin, place->end - place->begin);
  std::string stated;
  const auto state = [&](std::string_view directive, uint32_t number) {
    remove(own, ownPlain, directive);
    if (number != 0)
      stated += "\n" + std::string(directive) + " " + std::to_string(number);
  };
  if (limits.registers != 0)
    state(kRegisters, limits.registers);
  if (limits.maxThreads != 0) {
    // The assembler takes one of the two.
    const bool isExact = placeOf(ownPlain, kExactThreads) != ownPlain.npos;
    state(kMaxThreads, isExact ? 0 : limits.maxThreads);
    state(kMinBlocks, limits.minBlocks);
  }
  if (!stated.empty() && !own.empty() && !isBlank(own.front()))
    stated += "\n"; // a directive follows at once
  std::string changed(text.substr(0, place->begin));
  changed += stated + own;
  changed += text.substr(place->end);
  setJitNumber(changed, kJitMaxRegisters, limits.registers);
  setJitNumber(changed, kJitMaxThreads, limits.maxThreads);
  setJitNumber(changed, kJitMinBlocks, limits.maxThreads == 0 ? 0 : limits.minBlocks);
  const auto* begin = reinterpret_cast<const std::byte*>(changed.data());
  return {begin, begin + changed.size()};
}

} // namespace mneme::embed
