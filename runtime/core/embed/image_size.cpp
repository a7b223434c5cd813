// Room core/embed: finds the end of a device image of which only the first byte's address is known,
// as in registration calls of the vendors' runtimes. The size follows from the image's own headers,
// which are trusted: the program or its compiler made the image, and there is no other bound to
// check.
#include <algorithm>
#include <cstring>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/embed/containers.h"

namespace mneme::embed {
namespace {

template <typename Structure> Structure load(const std::byte* address) {
  Structure result;
  std::memcpy(&result, address, sizeof(result));
  return result;
}

/// Where the section table or the last section ends.
uint64_t elfSize(const std::byte* image) {
  auto header = load<Elf64_Ehdr>(image);
  uint64_t end = header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (const auto file = elf::File::in(Bytes(image, end)))
    for (const auto& [section, name] : file->sections())
      if (section.sh_type != SHT_NOBITS)
        end = std::max(end, section.sh_offset + section.sh_size);
  return end;
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

/// Returns zero-terminated PTX; empty for anything else.
Bytes textInMemory(const std::byte* begin) {
  const auto* characters = reinterpret_cast<const char*>(begin);
  // Look for the end only where the first character can begin a comment or `.version`.
  if (!std::strchr("./ \t\r\n", characters[0]))
    return {};
  const Bytes text(begin, std::strlen(characters));
  return isPtx(text) ? text : Bytes{};
}

} // namespace

Bytes imageInMemory(const void* address) {
  constexpr size_t kSmallestHeader = 24;
  const auto* begin = static_cast<const std::byte*>(address);
  Bytes start(begin, kSmallestHeader);
  if (isFatBinary(start))
    return Bytes(begin, fatBinarySize(start));
  if (isOffloadBundle(start))
    return Bytes(begin, bundleSize(begin));
  constexpr size_t kCompressedHeader = 32;
  if (isCompressedBundle(start))
    return Bytes(begin, compressedBundleSize(Bytes(begin, kCompressedHeader)));
  if (elf::isElf64(start))
    return Bytes(begin, elfSize(begin));
  return textInMemory(begin);
}

} // namespace mneme::embed
