#include "runtime/compiler/assembler/assembler.h"

#include <array>
#include <optional>
#include <sstream>
#include <string_view>

#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/pinned_file.h"

namespace mneme::compile {
namespace {

struct Refusal {
  const char* option;
  const char* instead;
};

constexpr const char* kNoFiles = "the image goes to the caller only";
constexpr const char* kNoText = "a kernel could not be assembled with it";

constexpr std::array kRefused = {
    Refusal{"o", kNoFiles},
    Refusal{"output-file", kNoFiles},
    Refusal{"options-file", kNoFiles},
    Refusal{"optf", kNoFiles},
    Refusal{"query-controls", kNoFiles},
    Refusal{"input-as-string", kNoFiles},
    Refusal{"ias", kNoFiles},
    Refusal{"arch", "the target says it"},
    Refusal{"gpu-name", "the target says it"},
    Refusal{"machine", "the target says it"},
    Refusal{"m", "the target says it"},
    Refusal{"opt-level", "use the code generation level"},
    Refusal{"maxrregcount", "use the register limit"},
    Refusal{"entry", "the kernel's name says it"},
    Refusal{"e", "the kernel's name says it"},
    Refusal{"compile-only", "the image must be whole"},
    Refusal{"c", "the image must be whole"},
    Refusal{"help", kNoText},
    Refusal{"h", kNoText},
    Refusal{"version", kNoText},
    Refusal{"V", kNoText},
    Refusal{"list-version", kNoText},
    Refusal{"version-ls", kNoText},
};

// ptxas's advanced controls: a file, whose content decides on the code.
constexpr std::string_view kControls = "apply-controls";
// Ours: which ptxas runs.
constexpr std::string_view kProgram = "ptxas-program";

/// What stands behind "--NAME="; nothing for other options.
std::optional<std::string_view> fileIn(std::string_view option, std::string_view name) {
  const size_t first = option.find_first_not_of('-');
  const size_t equals = option.find('=');
  if (first == option.npos || equals == option.npos || option.substr(first, equals - first) != name)
    return std::nullopt;
  return option.substr(equals + 1);
}

void checkFile(const std::string& option, std::string_view name, std::string_view its) {
  const auto file = fileIn(option, its);
  if (file ? pinnedFileIn(*file).contentHash.has_value() : name != its)
    return;
  const std::string words = "--" + std::string(its) + "=FILE";
  throw Error(ErrorCode::InvalidArgument, "assembler option '" + option +
                                              "' has to say which content the file has, as '" +
                                              words + "@<16 digits>'; --ptxas=" + words +
                                              " and mneme.code_texts.assembler_option() add that");
}

void checkOption(const std::string& option) {
  const size_t first = option.find_first_not_of('-');
  if (option.front() != '-' || first == std::string::npos || first > 2)
    throw Error(ErrorCode::InvalidArgument,
                "assembler option '" + option +
                    "' does not start with a dash; write values behind '=', as in "
                    "'--def-load-cache=cg'");
  const std::string name = option.substr(first, option.find('=') - first);
  for (const Refusal& refusal : kRefused)
    if (name == refusal.option)
      throw Error(ErrorCode::InvalidArgument,
                  "assembler option '" + option + "' cannot be given: " + refusal.instead);
  const bool isLevel = name.size() <= 2 && name[0] == 'O';
  if (isLevel)
    throw Error(ErrorCode::InvalidArgument,
                "assembler option '" + option + "' cannot be given: use the code generation level");
  checkFile(option, name, kControls);
  checkFile(option, name, kProgram);
}

} // namespace

std::vector<std::string> checkedOptions(const char* text) {
  std::vector<std::string> options;
  std::istringstream words(text ? text : "");
  for (std::string word; words >> word;) {
    checkOption(word);
    options.push_back(word);
  }
  return options;
}

std::string optionForTool(const std::string& option) {
  const auto controls = fileIn(option, kControls);
  if (!controls)
    return option;
  const PinnedFile file = pinnedFileIn(*controls);
  const auto present = hashOfFile(file.path);
  if (present && file.contentHash && *present != *file.contentHash)
    throw Error(ErrorCode::InvalidArgument,
                "the file '" + file.path +
                    "' of assembler controls has changed since it was named; name it again with "
                    "--ptxas=--apply-controls=FILE");
  return option.substr(0, option.size() - controls->size()) + file.path;
}

AssemblerTool takeAssembler(std::vector<std::string>& options) {
  std::optional<PinnedFile> named;
  std::erase_if(options, [&](const std::string& option) {
    const auto file = fileIn(option, kProgram);
    if (file)
      named = pinnedFileIn(*file); // the last counts
    return file.has_value();
  });
  if (!named)
    return findAssembler();
  if (named->contentHash != hashOfFile(named->path))
    throw Error(ErrorCode::InvalidArgument,
                "the ptxas '" + named->path +
                    "' is missing, or has changed since it was named; name it again with "
                    "--ptxas=--ptxas-program=FILE");
  return {AssemblerKind::Ptxas, named->path};
}

} // namespace mneme::compile
