#include "runtime/nvcc/explanations.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "runtime/nvcc/command.h"
#include "runtime/nvcc/missing_header.h"
#include "runtime/nvcc/option_table.h"
#include "runtime/nvcc/source_errors.h"

namespace mneme::nvcc {
namespace {

namespace fs = std::filesystem;

bool belongsTo(std::string_view word, std::initializer_list<std::string_view> options) {
  return std::find(options.begin(), options.end(), word) != options.end();
}

/// What stands between quotation marks next; empty where nothing does. Takes it from the text.
std::string_view takeQuoted(std::string_view& text) {
  const size_t begin = text.find('\'');
  const size_t end = text.find('\'', begin + 1);
  if (begin == std::string_view::npos || end == std::string_view::npos)
    return {};
  const std::string_view found = text.substr(begin + 1, end - begin - 1);
  text.remove_prefix(end + 1);
  return found;
}

/// "'a', 'b' and 'c'"
std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t at = 0; at < words.size(); ++at)
    text += (at == 0                  ? "'"
             : at + 1 == words.size() ? " and '"
                                      : ", '") +
            std::string(words[at]) + "'";
  return text;
}

bool isGiven(const std::vector<std::string>& words,
             std::initializer_list<std::string_view> options) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return belongsTo(word, options); });
}

bool asksForOpenMp(const std::vector<std::string>& words) {
  return isGiven(words, {"-fopenmp", "-fopenmp=libomp"});
}

/// What a command that compiles without errors writes where it links; empty where it does not.
std::string linkerMessages(std::string_view messages, const std::vector<std::string>& words) {
  std::vector<std::string> again = checkingWords(words, "-w");
  if (again.empty() || isGiven(words, {"-c", "-S", "-E"}) ||
      messages.find("error: ") != std::string_view::npos)
    return {};
  again.insert(again.begin() + 1, {"-o", "/dev/null"});
  return errorsOf({again});
}

/// Links again where the preprocessor's messages do not decide.
std::string explanationOfOpenMp(std::string_view messages, const std::vector<std::string>& words) {
  if (!asksForOpenMp(words))
    return {};
  const std::string library = outputOf({{words.front(), "-print-file-name=libomp.so"}});
  if (library.empty() || library.find('/') != std::string::npos)
    return {};
  const std::string text = explainOpenMp(messages, words, library);
  return text.empty() ? explainOpenMp(linkerMessages(messages, words), words, library) : text;
}

std::string explanationOf(std::string_view messages, const std::vector<std::string>& words,
                          const fs::path& bin) {
  if (const std::string text = explainOptions(messages, bin); !text.empty())
    return text;
  if (std::string text = explanationOfOpenMp(messages, words); !text.empty())
    return text;
  const Toolkit toolkit = findToolkit(bin);
  if (const std::string header = missingHeader(messages); !header.empty())
    return sourceOfHeader(header, toolkit);
  return explainLanguage(messages, words, toolkit);
}

/// What is known of an error in CUDA code that mneme-nvcc compiles: its sources are written for
/// nvcc, those of mneme-cxx for clang.
std::string explanationOfSource(const std::vector<std::string>& words) {
  const bool isForNvcc = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.ends_with("/mneme/nvcc.h");
  });
  if (!isForNvcc)
    return {};
  const std::vector<std::string> checks = checkingWords(words, "-fsyntax-only");
  const std::string messages = errorsOf({checks});
  if (messages.find("error: ") == std::string::npos)
    return {};
  const std::string text = explainCode(messages);
  return text.empty() ? explainMacro(checks) : text;
}

} // namespace

std::string explainOptions(std::string_view messages, const fs::path& bin) {
  constexpr std::string_view kBefore = "error: unknown argument";
  std::vector<std::string_view> found;
  for (size_t at = 0; (at = messages.find(kBefore)) != std::string_view::npos;) {
    messages.remove_prefix(at + kBefore.size());
    const std::string_view word = takeQuoted(messages);
    if (findOption(word.substr(0, word.find('='))) &&
        std::count(found.begin(), found.end(), word) == 0)
      found.push_back(word);
  }
  if (found.empty())
    return {};
  const std::string nvcc = (bin / "mneme-nvcc").string();
  return listed(found) + (found.size() == 1 ? " is an option" : " are options") +
         " of nvcc, which clang lacks: compile with " + nvcc +
         " (CMake, in a new build folder: -DCMAKE_CUDA_COMPILER=" + nvcc +
         " behind $(mneme config cmake-args))";
}

std::string explainLanguage(std::string_view messages, const std::vector<std::string>& words,
                            const Toolkit& toolkit) {
  constexpr std::string_view kBefore = " requires at least C++";
  const size_t at = messages.find(kBefore);
  const auto given = std::find_if(words.rbegin(), words.rend(), [](const std::string& word) {
    return word.starts_with("-std=") || word.starts_with("--std=");
  });
  if (at == std::string_view::npos || given == words.rend())
    return {};
  messages.remove_prefix(at + kBefore.size());
  messages.remove_prefix(std::min(messages.find_first_not_of(' '), messages.size()));
  const std::string year(messages.substr(0, messages.find_first_not_of("0123456789")));
  if (year.empty())
    return {};
  const std::string release = toolkit.release ? " " + std::to_string(toolkit.release / 10) : "";
  return "the headers of CUDA" + release + " (Thrust, CUB, libcu++) need C++" + year +
         ", and the command line says " + *given + ": say -std=c++" + year +
         " there, or set NVCC_APPEND_FLAGS=-std=c++" + year +
         ", which mneme-nvcc adds to each command";
}

std::string explainOpenMp(std::string_view messages, const std::vector<std::string>& words,
                          std::string_view library) {
  constexpr std::array<std::string_view, 3> kNames{"-lomp", "libomp", "__kmpc_"};
  const bool isMissed = missingHeader(messages) == "omp.h" ||
                        std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
                          return messages.find(name) != std::string_view::npos;
                        });
  if (!asksForOpenMp(words) || library.empty() || library.find('/') != std::string_view::npos ||
      !isMissed)
    return {};
  return std::string("clang's OpenMP needs its own header and runtime, libomp, which is not "
                     "installed (g++'s libgomp does not serve): install libomp-") +
         std::to_string(MNEME_LLVM_MAJOR) +
         "-dev (apt) or llvm-openmp (conda), or leave -fopenmp out";
}

std::vector<std::string> checkingWords(const std::vector<std::string>& words,
                                       const std::string& phase) {
  std::vector<std::string> result;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    // A response file may name an output, and what came by standard input is gone.
    if (word == "-" || word.starts_with('@'))
      return {};
    if (belongsTo(word, {"-o", "-MF", "-MT", "-MQ", "-MJ"}))
      ++at;
    else if (!word.starts_with("-o") && !word.starts_with("-M") && !word.starts_with("-save-temps"))
      result.push_back(word);
    if (word == "--") // options end here
      result.insert(result.end() - 1, {phase, "-w"});
  }
  if (std::find(words.begin(), words.end(), "--") == words.end())
    result.insert(result.end(), {phase, "-w"});
  return result;
}

int compileAndExplain(const std::vector<std::string>& words, const fs::path& bin) {
  const int status = run({words});
  if (status == 0)
    return status;
  const std::vector<std::string> again = checkingWords(words, "-E");
  if (again.empty())
    return status;
  std::string sentence = explanationOf(errorsOf({again}), words, bin);
  if (sentence.empty())
    sentence = explanationOfSource(words);
  if (!sentence.empty())
    std::fprintf(stderr, "mneme: %s\n", sentence.c_str());
  return status;
}

} // namespace mneme::nvcc
