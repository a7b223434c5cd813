#include "runtime/emulator/runtimes/cuda/static_runtime_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/core/base/bytes.h"
#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/embed/containers.h"

namespace mneme::cpu_runtime::cuda {
namespace {

constexpr uint64_t kMostTableBytes = uint64_t{1} << 30;
/// NVIDIA's static runtime calls its own functions so, and nobody else does.
constexpr std::string_view kMark = "libcudart_static_";

/// A symbol has the size of the code; linkers fill up what is behind it.
void addPadding(std::vector<RuntimeFunction>& functions, std::vector<uint64_t> starts) {
  std::ranges::sort(starts);
  for (RuntimeFunction& function : functions) {
    const auto next = std::ranges::upper_bound(starts, function.start);
    if (next != starts.end())
      function.bytes = std::max(function.bytes, *next - function.start);
  }
}

std::vector<RuntimeFunction> functionsIn(Bytes table, Bytes names) {
  std::vector<RuntimeFunction> functions;
  std::vector<uint64_t> starts;
  elf::forEachSymbol(table, names, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
      return;
    starts.push_back(symbol.st_value);
    if (name.starts_with("cuda") || name.starts_with("__cuda"))
      functions.push_back({std::string(name), symbol.st_value, symbol.st_size, {}});
  });
  addPadding(functions, std::move(starts));
  return functions;
}

/// Fills in what each function begins with.
void readCode(const elf::File& file, const std::vector<Elf64_Phdr>& segments,
              std::vector<RuntimeFunction>& functions) {
  for (RuntimeFunction& function : functions)
    for (const Elf64_Phdr& segment : segments) {
      const uint64_t offset = function.start - segment.p_vaddr;
      if (segment.p_type != PT_LOAD || offset >= segment.p_filesz)
        continue;
      Elf64_Phdr part = segment;
      part.p_offset += offset;
      part.p_filesz = std::min<uint64_t>(segment.p_filesz - offset, function.code.size());
      const Bytes code = file.content(part).value_or(Bytes());
      std::ranges::copy(code, function.code.begin());
    }
}

/// CUDA 12 gives the properties of a device under this name, 13 and 11 do not; 13 brought the other
/// one. All of a runtime's functions are in a program that has one of them.
int toolkitOf(const std::vector<RuntimeFunction>& functions) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(functions, name, &RuntimeFunction::name) != functions.end();
  };
  return has("cudaGetDeviceProperties_v2") ? 12 : has("cudaLogsCurrent") ? 13 : 0;
}

StaticRuntimeFile read(const elf::File& file) {
  StaticRuntimeFile facts;
  facts.segments = file.segments().value_or(std::vector<Elf64_Phdr>());
  facts.hasDeviceCode = std::ranges::any_of(file.sections(), [](const elf::Section& section) {
    return embed::isDeviceCodeSection(section.name);
  });
  const elf::Section* const table = file.find(SHT_SYMTAB);
  facts.hasSymbols = table != nullptr;
  const elf::Section* const texts = table ? file.namesOf(*table) : nullptr;
  if (!texts)
    return facts;
  const Bytes names = file.content(*texts).value_or(Bytes());
  if (std::string_view(reinterpret_cast<const char*>(names.data()), names.size()).find(kMark) !=
      std::string_view::npos)
    facts.functions = functionsIn(file.content(*table).value_or(Bytes()), names);
  readCode(file, facts.segments, facts.functions);
  facts.toolkit = toolkitOf(facts.functions);
  return facts;
}

} // namespace

StaticRuntimeFile readStaticRuntime(const std::string& path) {
  try {
    const UniqueFd opened = openRegularFile(path);
    const auto file = elf::File::of(opened, kMostTableBytes);
    return file ? read(*file) : StaticRuntimeFile();
  } catch (const Error&) {
    return {};
  }
}

} // namespace mneme::cpu_runtime::cuda
