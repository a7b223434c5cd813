#include "runtime/nvcc/device_link.h"

#include "runtime/nvcc/command.h"

namespace mneme::nvcc {

int keepDeviceCode(const std::vector<std::string>& linkerWords,
                   const std::filesystem::path& prefix) {
  std::vector<std::string> made;
  std::string output = "a.out";
  for (size_t at = 0; at < linkerWords.size(); ++at) {
    const std::string& word = linkerWords[at];
    if (word == "-o" && at + 1 < linkerWords.size())
      output = linkerWords[++at];
    else if (word.find(".image.wrapper") != std::string::npos && word.ends_with(".o"))
      made.push_back(word);
  }
  if (made.empty())
    return run(
        {{(prefix / "bin" / "mneme-clang").string(), "-x", "c", "-c", "/dev/null", "-o", output}});
  std::vector<std::string> words = {"ld", "-r", "-o", output};
  words.insert(words.end(), made.begin(), made.end());
  return run({std::move(words)});
}

} // namespace mneme::nvcc
