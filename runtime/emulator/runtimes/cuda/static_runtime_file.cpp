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
      functions.push_back({std::string(name), symbol.st_value, symbol.st_size});
  });
  addPadding(functions, std::move(starts));
  return functions;
}

StaticRuntimeFile read(const elf::File& file) {
  StaticRuntimeFile facts;
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
