#include "runtime/devices/cuda/cubin.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "runtime/core/base/elf_file.h"

namespace mneme::device::cuda {

namespace {

constexpr uint16_t machineCuda = 190;
/// Attributes of a kernel are entries of 4 bytes: format, attribute, 16 bits of value; with this
/// format the value is the size of what follows.
constexpr uint8_t formatSized = 4;
constexpr uint8_t attributeTotal = 0x19; ///< bytes of all arguments
constexpr uint8_t attributeParameter = 0x17;
/// Instead of the former in kernels with more than 4 KiB of arguments; flags in the upper half of
/// the last word.
constexpr uint8_t attributeLargeParameter = 0x45;

std::vector<CubinVariable> variablesOf(const elf::File& file) {
  std::vector<CubinVariable> variables;
  file.forEachSymbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= file.sections().size())
      return;
    const std::string_view home = file.sections()[symbol.st_shndx].name;
    const bool isConstant = home == ".nv.constant3";
    if (isConstant || home.starts_with(".nv.global"))
      variables.push_back({std::string(name), symbol.st_size, isConstant});
  });
  return variables;
}

struct Argument {
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
};

/// What is known of a kernel's arguments, from the entries of its section.
struct Arguments {
  std::map<uint32_t, Argument> byPosition;
  std::optional<uint64_t> totalBytes; ///< of all, with what lies between them

  void note(uint8_t attribute, Bytes content) {
    const bool isLarge = attribute == attributeLargeParameter;
    const auto position = valueAt<uint16_t>(content, 4);
    const auto offset = valueAt<uint16_t>(content, 6);
    const auto packed = valueAt<uint32_t>(content, 8);
    if ((isLarge || attribute == attributeParameter) && position && offset && packed)
      byPosition[*position] = {*offset, isLarge ? *packed & 0xffff : *packed >> 18};
  }

  /// Nothing if the arguments do not lie one behind the other up to the last byte.
  std::optional<std::vector<uint64_t>> sizes() const {
    std::vector<uint64_t> result;
    uint64_t end = 0;
    for (const auto& [position, argument] : byPosition) {
      if (position != result.size() || argument.offset < end)
        return std::nullopt;
      end = argument.offset + argument.sizeBytes;
      result.push_back(argument.sizeBytes);
    }
    if (totalBytes.value_or(end) != end)
      return std::nullopt;
    return result;
  }
};

std::optional<std::vector<uint64_t>> argumentSizesOf(const elf::File& file,
                                                     const std::string& kernel) {
  const elf::Section* section = file.find(".nv.info." + kernel);
  if (!section)
    return std::nullopt;
  const Bytes entries = file.content(*section).value_or(Bytes());
  Arguments arguments;
  for (uint64_t at = 0; at + 4 <= entries.size(); at += 4) {
    const auto format = *valueAt<uint8_t>(entries, at);
    const auto attribute = *valueAt<uint8_t>(entries, at + 1);
    const auto value = *valueAt<uint16_t>(entries, at + 2);
    if (attribute == attributeTotal)
      arguments.totalBytes = value;
    if (format != formatSized)
      continue;
    const Bytes rest = entries.subspan(at + 4);
    arguments.note(attribute, rest.first(std::min<uint64_t>(value, rest.size())));
    at += value;
  }
  return arguments.sizes();
}

} // namespace

CubinFacts readCubin(Bytes image, const std::string& kernel) {
  CubinFacts facts;
  const auto file = elf::File::in(image);
  if (!file || file->header().e_machine != machineCuda || !file->isWhole())
    return facts;
  // Version 8 of the ABI (CUDA 13) moved the architecture up by a byte.
  const unsigned shift = file->header().e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  facts.target = "sm_" + std::to_string(file->header().e_flags >> shift & 0xff);
  facts.variables = variablesOf(*file);
  facts.argumentSizes = argumentSizesOf(*file, kernel);
  return facts;
}

} // namespace mneme::device::cuda
