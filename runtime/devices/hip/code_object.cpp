#include "runtime/devices/hip/code_object.h"

#include <nlohmann/json.hpp>

#include <string_view>

#include "runtime/core/base/elf_file.h"

namespace mneme::device::hip {

namespace {

using nlohmann::json;

constexpr uint32_t noteMetadata = 32;
constexpr std::string_view targetPrefix = "amdgcn-amd-amdhsa--";
/// The suffix of the symbol that describes a kernel; the symbol is an object, as a variable is.
constexpr std::string_view descriptorSuffix = ".kd";

/// The metadata, which is MessagePack in a note; null if there is none that can be read.
json metadataOf(const elf::File& file) {
  for (const elf::Section& section : file.sections()) {
    if (section.header.sh_type != SHT_NOTE)
      continue;
    const Bytes notes = file.content(section).value_or(Bytes());
    const Bytes bytes = elf::findNote(notes, "AMDGPU", noteMetadata).value_or(Bytes());
    if (bytes.empty())
      continue;
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    json metadata = json::from_msgpack(begin, begin + bytes.size(), /*strict=*/true,
                                       /*allow_exceptions=*/false);
    return metadata.is_object() ? metadata : json();
  }
  return {};
}

template <typename Value> Value valueOr(const json& object, const char* key, Value otherwise) {
  if (!object.is_object())
    return otherwise;
  const auto found = object.find(key);
  const auto* value = found == object.end() ? nullptr : found->template get_ptr<const Value*>();
  return value ? *value : otherwise;
}

uint64_t numberOr0(const json& object, const char* key) {
  return valueOr<json::number_unsigned_t>(object, key, 0);
}

void readKernel(const json& kernel, CodeObjectFacts& facts) {
  if (const auto arguments = kernel.find(".args"); arguments != kernel.end())
    for (const json& argument : *arguments)
      if (!valueOr<json::string_t>(argument, ".value_kind", "").starts_with("hidden_"))
        facts.argumentSizes.push_back(numberOr0(argument, ".size"));
  facts.ldsBytes = numberOr0(kernel, ".group_segment_fixed_size");
  facts.scratchBytes = numberOr0(kernel, ".private_segment_fixed_size");
  facts.vectorRegisters = static_cast<uint32_t>(numberOr0(kernel, ".vgpr_count"));
  facts.maxThreads = static_cast<uint32_t>(numberOr0(kernel, ".max_flat_workgroup_size"));
}

std::vector<CodeObjectVariable> variablesOf(const elf::File& file) {
  std::vector<CodeObjectVariable> variables;
  file.forEachSymbol(SHT_DYNSYM, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_shndx >= file.sections().size() || name.ends_with(descriptorSuffix))
      return;
    const bool isConstant = !(file.sections()[symbol.st_shndx].header.sh_flags & SHF_WRITE);
    variables.push_back({std::string(name), symbol.st_size, isConstant});
  });
  return variables;
}

} // namespace

CodeObjectFacts readCodeObject(Bytes image, const std::string& kernel) {
  CodeObjectFacts facts;
  const auto file = elf::File::in(image);
  const bool isWhole = file && file->header().e_machine == EM_AMDGPU && file->isWhole();
  const json metadata = isWhole ? metadataOf(*file) : json();
  if (!metadata.is_object())
    return facts;
  facts.target = valueOr<json::string_t>(metadata, "amdhsa.target", "");
  if (facts.target.starts_with(targetPrefix))
    facts.target.erase(0, targetPrefix.size());
  facts.variables = variablesOf(*file);
  if (const auto kernels = metadata.find("amdhsa.kernels"); kernels != metadata.end())
    for (const json& one : *kernels)
      if (one.is_object() && valueOr<json::string_t>(one, ".name", "") == kernel)
        readKernel(one, facts);
  return facts;
}

} // namespace mneme::device::hip
