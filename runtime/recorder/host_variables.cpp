#include "runtime/recorder/host_variables.h"

#include <algorithm>

#include <fcntl.h>
#include <link.h>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::record {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMostBytes = 256 << 20; ///< of a table of symbols, or of names

} // namespace

void HostVariables::look() {
  loaded_.clear();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        auto& loaded = *static_cast<std::vector<Loaded>*>(user);
        const bool isProgram = loaded.empty(); // it comes first, without a name
        Loaded file{isProgram         ? "/proc/self/exe"
                    : info->dlpi_name ? info->dlpi_name
                                      : "",
                    info->dlpi_addr,
                    {}};
        for (size_t index = 0; index < info->dlpi_phnum; ++index)
          if (const ElfW(Phdr) & segment = info->dlpi_phdr[index]; segment.p_type == PT_LOAD)
            file.segments.push_back({info->dlpi_addr + segment.p_vaddr, segment.p_memsz});
        loaded.push_back(std::move(file));
        return 0;
      },
      &loaded_);
}

const HostVariables::Loaded* HostVariables::fileOf(uint64_t address) const noexcept {
  const auto contains = [&](const AddressRange& segment) {
    return address - segment.begin < segment.sizeBytes;
  };
  const auto found = std::ranges::find_if(
      loaded_, [&](const Loaded& file) { return std::ranges::any_of(file.segments, contains); });
  return found == loaded_.end() ? nullptr : &*found;
}

bool HostVariables::covers(uint64_t address) const noexcept { return fileOf(address) != nullptr; }

AddressRange HostVariables::outside(const AddressRange& range, uint64_t address) const noexcept {
  uint64_t begin = range.begin, end = range.begin + range.sizeBytes;
  for (const Loaded& file : loaded_)
    for (const AddressRange& segment : file.segments) {
      const uint64_t first = segment.begin / kPageBytes * kPageBytes;
      const uint64_t behind =
          (segment.begin + segment.sizeBytes + kPageBytes - 1) / kPageBytes * kPageBytes;
      if (behind <= address)
        begin = std::max(begin, behind);
      else if (first > address)
        end = std::min(end, first);
      else
        return {};
    }
  return {begin, end - begin};
}

HostVariables::Symbols HostVariables::readSymbols(const std::string& path) {
  Symbols symbols;
  const UniqueFd opened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto file = elf::File::of(opened, kMostBytes);
  if (!file)
    return symbols;
  const auto add = [&](const Elf64_Sym& symbol, std::string_view) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
        symbol.st_size > 0)
      symbols.push_back({symbol.st_value, symbol.st_size});
  };
  file->forEachSymbol(SHT_SYMTAB, add);
  file->forEachSymbol(SHT_DYNSYM, add);
  std::ranges::sort(symbols);
  const auto [first, last] = std::ranges::unique(symbols);
  symbols.erase(first, last);
  return symbols;
}

std::optional<AddressRange> HostVariables::find(uint64_t address) {
  const Loaded* file = fileOf(address);
  if (!file || file->path.empty())
    return std::nullopt;
  const auto [known, isNew] = symbols_.try_emplace(file->path);
  if (isNew)
    known->second = apart([&] { return readSymbols(file->path); });
  const uint64_t inFile = address - file->shift;
  const auto next = std::ranges::upper_bound(known->second, inFile, {}, &AddressRange::begin);
  if (next == known->second.begin())
    return std::nullopt;
  const AddressRange& before = *std::prev(next);
  if (inFile - before.begin >= before.sizeBytes)
    return std::nullopt;
  return AddressRange{before.begin + file->shift, before.sizeBytes};
}

} // namespace mneme::record
