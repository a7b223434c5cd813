#include "runtime/compiler/assembler/usage.h"

#include <cstring>
#include <elf.h>
#include <regex>
#include <sstream>

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

/// A section's bytes, name and size; whatever lies outside the file is left out.
template <typename Visit> void forEachSection(const std::string& cubin, Visit&& visit) {
  Elf64_Ehdr header;
  if (cubin.size() < sizeof header)
    return;
  memcpy(&header, cubin.data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(Elf64_Shdr))
    return;
  const auto sectionAt = [&](unsigned index, Elf64_Shdr& section) {
    const uint64_t at = header.e_shoff + uint64_t{index} * sizeof section;
    if (header.e_shoff > cubin.size() || at + sizeof section > cubin.size())
      return false;
    memcpy(&section, cubin.data() + at, sizeof section);
    return true;
  };
  Elf64_Shdr names;
  if (!sectionAt(header.e_shstrndx, names) || names.sh_offset > cubin.size() ||
      names.sh_size > cubin.size() - names.sh_offset)
    return;
  const std::string table = cubin.substr(names.sh_offset, names.sh_size);
  Elf64_Shdr section;
  for (unsigned index = 0; index < header.e_shnum && sectionAt(index, section); ++index)
    if (section.sh_name < table.size())
      visit(std::string(table.c_str() + section.sh_name), section.sh_size);
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
  constexpr const char* kConstant = ".nv.constant";
  forEachSection(cubin, [&](const std::string& name, uint64_t size) {
    if (name == ".nv.shared." + kernel && usage.sharedBytes == 0)
      usage.sharedBytes = size;
    if (name.rfind(kConstant, 0) != 0)
      return;
    const size_t dot = name.find('.', strlen(kConstant));
    const std::string bank = name.substr(strlen(kConstant), dot - strlen(kConstant));
    const bool isOurs = dot == std::string::npos || name.substr(dot + 1) == kernel;
    if (isOurs && bank != "0") // bank 0 holds the parameters and the driver's own
      usage.constantBytes += size;
  });
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
