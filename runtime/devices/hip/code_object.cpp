#include "runtime/devices/hip/code_object.h"

#include <nlohmann/json.hpp>

#include <string_view>

#include "runtime/devices/gpu/elf_file.h"

namespace mneme::device::hip {

namespace {

using gpu::textAt;
using gpu::valueAt;
using nlohmann::json;
using Bytes = std::span<const std::byte>;

constexpr uint16_t machineAmdgpu = 224;
constexpr uint32_t noteMetadata = 32;
constexpr std::string_view targetPrefix = "amdgcn-amd-amdhsa--";
/// The suffix of the symbol that describes a kernel; the symbol is an object, as a variable is.
constexpr std::string_view descriptorSuffix = ".kd";

uint64_t roundedUp(uint64_t size) { return (size + 3) / 4 * 4; }

/// The metadata, which is MessagePack in a note; null if there is none that can be read.
json metadataOf(const std::vector<gpu::ElfSection>& sections) {
  for (const gpu::ElfSection& section : sections) {
    if (section.header.sh_type != SHT_NOTE)
      continue;
    for (uint64_t at = 0;;) {
      const auto note = valueAt<Elf64_Nhdr>(section.bytes, at);
      if (!note)
        break;
      const uint64_t name = at + sizeof(Elf64_Nhdr);
      const uint64_t content = name + roundedUp(note->n_namesz);
      if (content > section.bytes.size() || note->n_descsz > section.bytes.size() - content)
        break;
      if (note->n_type == noteMetadata && textAt(section.bytes, name) == "AMDGPU") {
        const Bytes bytes = section.bytes.subspan(content, note->n_descsz);
        const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
        json metadata = json::from_msgpack(begin, begin + bytes.size(), /*strict=*/true,
                                           /*allow_exceptions=*/false);
        return metadata.is_object() ? metadata : json();
      }
      at = content + roundedUp(note->n_descsz);
    }
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

std::vector<CodeObjectVariable> variablesOf(const std::vector<gpu::ElfSection>& sections) {
  std::vector<CodeObjectVariable> variables;
  for (const gpu::ElfSection& table : sections) {
    if (table.header.sh_type != SHT_DYNSYM || table.header.sh_link >= sections.size())
      continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = valueAt<Elf64_Sym>(table.bytes, at);
      if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF ||
          symbol->st_shndx >= sections.size())
        continue;
      const std::string name = textAt(sections[table.header.sh_link].bytes, symbol->st_name);
      const bool isConstant = !(sections[symbol->st_shndx].header.sh_flags & SHF_WRITE);
      if (!name.ends_with(descriptorSuffix))
        variables.push_back({name, symbol->st_size, isConstant});
    }
  }
  return variables;
}

} // namespace

CodeObjectFacts readCodeObject(Bytes image, const std::string& kernel) {
  CodeObjectFacts facts;
  const auto file = gpu::readElf(image, machineAmdgpu);
  const json metadata = file ? metadataOf(file->sections) : json();
  if (!metadata.is_object())
    return facts;
  facts.target = valueOr<json::string_t>(metadata, "amdhsa.target", "");
  if (facts.target.starts_with(targetPrefix))
    facts.target.erase(0, targetPrefix.size());
  facts.variables = variablesOf(file->sections);
  if (const auto kernels = metadata.find("amdhsa.kernels"); kernels != metadata.end())
    for (const json& one : *kernels)
      if (one.is_object() && valueOr<json::string_t>(one, ".name", "") == kernel)
        readKernel(one, facts);
  return facts;
}

} // namespace mneme::device::hip
