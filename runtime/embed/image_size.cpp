// Room embed: how long an image in memory is. Its maker vouches for it; only its own headers say.
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "runtime/embed/containers.h"

namespace mneme::embed {
namespace {

template <typename Structure> Structure load(const std::byte* address) {
  Structure result;
  std::memcpy(&result, address, sizeof(result));
  return result;
}

uint64_t elfSize(const std::byte* image) {
  auto header = load<Elf64_Ehdr>(image);
  uint64_t end = header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  for (uint64_t index = 0; index < header.e_shnum; ++index) {
    auto section = load<Elf64_Shdr>(image + header.e_shoff + index * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS)
      end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

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

/// PTX, which ends with a zero.
Bytes textInMemory(const std::byte* begin) {
  const auto* characters = reinterpret_cast<const char*>(begin);
  if (!std::strchr("./ \t\r\n", characters[0])) // what comments and .version begin with
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
  if (isElf(start) && load<unsigned char>(begin + EI_CLASS) == ELFCLASS64)
    return Bytes(begin, elfSize(begin));
  return textInMemory(begin);
}

} // namespace mneme::embed
