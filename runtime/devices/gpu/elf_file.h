// Room devices/gpu: the sections of an ELF file for a GPU. No byte is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <elf.h>

namespace mneme::device::gpu {

struct ElfSection {
  Elf64_Shdr header;
  std::string name;
  std::span<const std::byte> bytes; ///< empty where it has none or lies outside
};

/// A view: the image must outlive it.
struct ElfFile {
  Elf64_Ehdr header;
  std::vector<ElfSection> sections;
};

template <typename Value>
std::optional<Value> valueAt(std::span<const std::byte> bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Value))
    return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(Value));
  return value;
}

/// The zero-terminated text there; cut off at the end.
std::string textAt(std::span<const std::byte> bytes, uint64_t offset);

bool isElf(std::span<const std::byte> image) noexcept;

/// Nothing if it is not an ELF file for `machine` (EM_*), or if a section or segment of it is
/// missing.
std::optional<ElfFile> readElf(std::span<const std::byte> image, uint16_t machine);

} // namespace mneme::device::gpu
