// Room core/embed: finds the end of a device image of which only the first byte's address is known,
// as in registration calls of the vendors' runtimes. The size follows from the image's own headers,
// which are trusted: the program or its compiler made the image, and there is no other bound to
// check.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/embed/containers.h"

namespace mneme::embed {
namespace {

template <typename Structure> Structure load(const std::byte* address) {
  Structure result;
  std::memcpy(&result, address, sizeof(result));
  return result;
}

/// Where the last of the tables and sections ends. The table of segments is the last in cubins.
uint64_t elfSize(const std::byte* image) {
  const auto header = load<Elf64_Ehdr>(image);
  uint64_t end = std::max(header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr),
                          header.e_phoff + uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  if (const auto file = elf::File::in(Bytes(image, end)))
    for (const auto& [section, name] : file->sections())
      if (section.sh_type != SHT_NOBITS)
        end = std::max(end, section.sh_offset + section.sh_size);
  return end;
}

/// What compilers put around a fat binary, and what the runtime gives the driver.
struct FatBinaryWrapper {
  uint32_t magic;
  uint32_t version;
  const std::byte* data;
};
constexpr std::array<uint8_t, 4> kWrapperMagic{0xb1, 0x43, 0x62, 0x46};

/// Reads no further than the first byte that differs: there may be none behind it.
bool beginsWith(const std::byte* begin, std::span<const uint8_t> magic) {
  for (size_t at = 0; at < magic.size(); ++at)
    if (begin[at] != std::byte{magic[at]})
      return false;
  return true;
}

/// Where the last code object of a HIP bundle ends. The header is a magic text and the number of
/// entries; each entry has offset, size and length of its name, followed by the name.
uint64_t bundleSize(const std::byte* bundle) {
  constexpr size_t kMagicBytes = 24;
  auto count = load<uint64_t>(bundle + kMagicBytes);
  const std::byte* next = bundle + kMagicBytes + sizeof(count);
  uint64_t end = 0;
  for (uint64_t index = 0; index < count; ++index) {
    auto offset = load<uint64_t>(next);
    auto size = load<uint64_t>(next + 8);
    auto nameBytes = load<uint64_t>(next + 16);
    next += 24 + nameBytes;
    end = std::max(end, offset + size);
  }
  return std::max<uint64_t>(end, next - bundle);
}

/// Whether a text that is PTX can begin so: with a blank, a comment or `.version`.
bool canBeginText(std::byte first) {
  return std::string_view("./ \t\r\n").find(std::to_integer<char>(first)) != std::string_view::npos;
}

/// Returns zero-terminated PTX; empty for anything else.
Bytes textInMemory(const std::byte* begin) {
  const Bytes text(begin, std::strlen(reinterpret_cast<const char*>(begin)));
  return isPtx(text) ? text : Bytes{};
}

} // namespace

Bytes imageInMemory(const void* address) {
  constexpr size_t kSmallestHeader = 24;
  const auto* begin = static_cast<const std::byte*>(address);
  if (beginsWith(begin, kWrapperMagic))
    begin = load<FatBinaryWrapper>(begin).data;
  if (!begin || *begin == std::byte{0})
    return {};
  if (canBeginText(*begin)) // which may be shorter than any header
    return textInMemory(begin);
  const Bytes start(begin, kSmallestHeader);
  if (isFatBinary(start))
    return Bytes(begin, fatBinarySize(start));
  if (isOffloadBundle(start))
    return Bytes(begin, bundleSize(begin));
  constexpr size_t kCompressedHeader = 32;
  if (isCompressedBundle(start))
    return Bytes(begin, compressedBundleSize(Bytes(begin, kCompressedHeader)));
  if (elf::isElf64(start))
    return Bytes(begin, elfSize(begin));
  return {};
}

} // namespace mneme::embed
