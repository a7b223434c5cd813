#include "runtime/compiler/assembler/usage.h"

#include <regex>
#include <span>
#include <sstream>
#include <string_view>

#include "runtime/core/base/elf_file.h"

namespace mneme::compile {
namespace {

constexpr unsigned kMaxErrorLines = 4;

/// The number in front of the first `what` in `line`.
bool numberBefore(const std::string& line, const std::string& what, uint64_t& number) {
  const size_t at = line.find(what);
  if (at == std::string::npos || at == 0)
    return false;
  size_t first = at;
  while (first > 0 && line[first - 1] == ' ')
    --first;
  const size_t end = first;
  while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9')
    --first;
  if (first == end || end - first > 18)
    return false;
  number = std::stoull(line.substr(first, end - first));
  return true;
}

void readLine(const std::string& line, ResourceUsage& usage) {
  uint64_t number = 0;
  if (numberBefore(line, "registers", number))
    usage.registers = static_cast<uint32_t>(number);
  numberBefore(line, "bytes stack frame", usage.stackBytes);
  numberBefore(line, "bytes cumulative stack size", usage.stackBytes);
  numberBefore(line, "bytes spill stores", usage.spillStoreBytes);
  numberBefore(line, "bytes spill loads", usage.spillLoadBytes);
  numberBefore(line, "bytes smem", usage.sharedBytes);
  numberBefore(line, "bytes lmem", usage.localBytes);
}

} // namespace

ResourceUsage usageInMessages(const std::string& messages, const std::string& kernel) {
  ResourceUsage usage;
  std::istringstream lines(messages);
  bool isOurs = false;
  for (std::string line; std::getline(lines, line);) {
    const bool namesFunction = line.find("Compiling entry function") != std::string::npos ||
                               line.find("Function properties for") != std::string::npos;
    if (namesFunction) {
      // The name stands alone or in quotes, at the end or before "for 'sm_NN'".
      std::istringstream words(line);
      isOurs = false;
      for (std::string word; words >> word;)
        isOurs =
            isOurs || word == kernel || word == "'" + kernel + "'" || word == "'" + kernel + "':";
    } else if (isOurs) {
      readLine(line, usage);
    }
  }
  if (usage.localBytes == 0)
    usage.localBytes = usage.stackBytes;
  return usage;
}

void addUsageInCubin(ResourceUsage& usage, const std::string& cubin, const std::string& kernel) {
  constexpr std::string_view kConstant = ".nv.constant";
  const auto file = elf::File::in(std::as_bytes(std::span(cubin)));
  if (!file)
    return;
  for (const auto& [section, name] : file->sections()) {
    if (name == ".nv.shared." + kernel && usage.sharedBytes == 0)
      usage.sharedBytes = section.sh_size;
    if (!name.starts_with(kConstant))
      continue;
    const std::string_view rest = name.substr(kConstant.size());
    const size_t dot = rest.find('.');
    const bool isOurs = dot == rest.npos || rest.substr(dot + 1) == kernel;
    if (isOurs && rest.substr(0, dot) != "0") // bank 0 holds the parameters and the driver's own
      usage.constantBytes += section.sh_size;
  }
}

std::string firstErrors(const std::string& messages) {
  std::istringstream lines(messages);
  std::string joined;
  unsigned count = 0;
  for (std::string line; count < kMaxErrorLines && std::getline(lines, line);) {
    const bool isNoise = line.find("ptxas info") != std::string::npos || line.empty() ||
                         line.rfind("info ", 0) == 0 || line.front() == ' ' ||
                         line.find("aborted due to errors") != std::string::npos;
    if (isNoise)
      continue;
    const std::string text = std::regex_replace(line, std::regex(" +"), " ");
    joined += (joined.empty() ? "" : "; ") + text;
    ++count;
  }
  return joined;
}

} // namespace mneme::compile
