#include "runtime/nvcc/source_errors.h"

#include <algorithm>
#include <array>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/nvcc/command.h"
#include "runtime/nvcc/command_line.h"

namespace mneme::nvcc {
namespace {

constexpr std::string_view kMacro = "__NVCC__";

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Takes the first line from a text.
std::string_view takeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Whether a line has a brace between <<< and >>>, which may be on a later line, or where clang's
/// caret below it points and >>> follows.
bool hasBraceInLaunch(std::string_view line, std::string_view below) {
  for (size_t at = 0; (at = line.find("<<<", at)) != std::string_view::npos; ++at)
    if (line.find('{', at) < line.find(">>>", at))
      return true;
  const size_t caret = below.find('^');
  return caret < line.size() && line[caret] == '{' && holds(line.substr(caret), ">>>");
}

bool showsBraceInLaunch(std::string_view shown) {
  while (!shown.empty()) {
    const std::string_view line = takeLine(shown);
    if (hasBraceInLaunch(line, shown.substr(0, shown.find('\n'))))
      return true;
  }
  return false;
}

/// An error of clang's, what has to be true of what clang shows with it, and what we know of it.
struct Known {
  std::string_view error;
  bool (*fits)(std::string_view shown);
  std::string_view sentence;
};

constexpr std::array kKnown{
    Known{"initialization is not supported for __shared__ variables",
          [](std::string_view) { return true; },
          "clang refuses variables in shared memory that have a constructor; nvcc accepts them and "
          "does not run the constructor: declare bytes, and take their address as the object's: "
          "__shared__ alignas(T) unsigned char bytes[sizeof(T)]; T& object = "
          "*reinterpret_cast<T*>(bytes);"},
    Known{"expected expression", showsBraceInLaunch,
          "clang takes no braces between <<< and >>>: write dim3 before them (dim3{x, y, z})"},
    Known{"expected expression", [](std::string_view shown) { return holds(shown, "<< <"); },
          "clang takes no blanks within <<< and >>>: write each in one piece"},
    Known{"expected expression",
          [](std::string_view shown) { return holds(shown, "#define") && holds(shown, "#pragma"); },
          "clang takes no #pragma from a macro: define the macro as _Pragma(\"unroll\")"},
};

bool fits(const Known& known, std::string_view messages) {
  constexpr std::string_view kError = "error: ";
  const std::string error = std::string(kError) + std::string(known.error);
  for (size_t at = 0; (at = messages.find(error, at)) != std::string_view::npos; ++at)
    if (known.fits(messages.substr(at, messages.find(kError, at + 1) - at)))
      return true;
  return false;
}

/// The first file of the source's own that names the macro; empty where none does.
std::string askingFile(const std::vector<std::string>& checks) {
  std::vector<std::string> words = checks;
  std::replace(words.begin(), words.end(), std::string("-fsyntax-only"), std::string("-MM"));
  words.insert(words.begin() + 1, "--cuda-host-only");
  std::string rule = outputOf({words});
  rule.erase(0, std::min(rule.find(':') + 1, rule.size()));
  for (size_t at = 0; (at = rule.find("\\\n", at)) != std::string::npos;)
    rule.erase(at, 2);
  for (const std::string& name : splitWords(rule)) {
    try {
      if (!name.ends_with(':') && readTextFile(name).find(kMacro) != std::string::npos)
        return name;
    } catch (const Error&) { // a name that is none of a file
    }
  }
  return {};
}

} // namespace

std::string explainCode(std::string_view messages) {
  const auto known = std::find_if(kKnown.begin(), kKnown.end(),
                                  [&](const Known& one) { return fits(one, messages); });
  return known == kKnown.end() ? "" : std::string(known->sentence);
}

std::string explainMacro(const std::vector<std::string>& checks) {
  const std::string macro = "-D" + std::string(kMacro);
  for (const std::string& word : checks)
    if (word.starts_with(macro))
      return {};
  const std::string file = askingFile(checks);
  if (file.empty())
    return {};
  std::vector<std::string> again = checks;
  again.insert(again.begin() + 1, macro);
  if (errorsOf({again}).find("error: ") != std::string::npos)
    return {};
  return "'" + file + "' asks for " + std::string(kMacro) +
         ", which mneme-nvcc does not define, since clang lacks nvcc's own built-in functions; "
         "with "
         "it the source compiles: add " +
         macro + ", or set NVCC_APPEND_FLAGS=" + macro;
}

} // namespace mneme::nvcc
