// Room core/base: sections, segments, symbols and notes of ELF files, in memory or on disk. No byte
// is trusted: what lies outside the file is nothing, and what to make of that is up to the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <elf.h>

#include "runtime/core/base/bytes.h"
#include "runtime/core/base/unique_fd.h"

namespace mneme::elf {

/// Whether the bytes begin as every ELF file does.
bool isElf(Bytes bytes) noexcept;
/// Whether they begin as the files that are read here: 64-bit, little-endian.
bool isElf64(Bytes bytes) noexcept;

struct Section {
  Elf64_Shdr header;
  std::string_view name; ///< empty where the file has none
};

/// Calls `visit(const Elf64_Sym&, std::string_view name)` for every symbol of a table; their names
/// are in `names`.
template <typename Visit> void forEachSymbol(Bytes table, Bytes names, const Visit& visit) {
  for (uint64_t at = 0; const auto symbol = valueAt<Elf64_Sym>(table, at); at += sizeof(Elf64_Sym))
    visit(*symbol, textAt(names, symbol->st_name));
}

/// Returns the first note of this owner and type; empty if there is none, nothing if a note before
/// it lies outside.
std::optional<Bytes> findNote(Bytes notes, std::string_view owner, uint32_t type);

/// What it returns are views of the image, or of what it read and keeps. Move-only; not
/// thread-safe.
class File {
public:
  /// Returns nothing unless a header for which isElf64() holds is there. `image` must outlive it.
  static std::optional<File> in(Bytes image);
  /// The same for a file on disk, which must outlive it. Parts larger than `mostBytes` count as
  /// outside.
  static std::optional<File> of(const UniqueFd& file, uint64_t mostBytes);
  File(File&&) = default;
  File& operator=(File&&) = default;

  const Elf64_Ehdr& header() const noexcept { return header_; }
  /// The number that the header states.
  uint64_t sectionCount() const noexcept { return header_.e_shoff == 0 ? 0 : header_.e_shnum; }
  /// Fewer than that where the table goes beyond the file, none where it makes no sense.
  const std::vector<Section>& sections() const noexcept { return sections_; }
  /// Return the first of this name, or of this type (SHT_*); null if there is none.
  const Section* find(std::string_view name) const noexcept;
  const Section* find(uint32_t type) const noexcept;
  /// Returns the section with the names of this one's symbols; null if there is none.
  const Section* namesOf(const Section& table) const noexcept;
  /// Returns nothing if the table of segments makes no sense or lies outside.
  std::optional<std::vector<Elf64_Phdr>> segments() const;

  /// Empty for a section without bytes in the file.
  std::optional<Bytes> content(const Section& section) const;
  std::optional<Bytes> content(const Elf64_Phdr& segment) const;
  /// As the function above, for the table of a type (SHT_*), of which a file has one at most. There
  /// are no symbols if it lies outside, and no names if they do.
  template <typename Visit> void forEachSymbol(uint32_t tableType, const Visit& visit) const {
    const Section* table = find(tableType);
    if (const Section* names = table ? namesOf(*table) : nullptr)
      elf::forEachSymbol(content(*table).value_or(Bytes()), content(*names).value_or(Bytes()),
                         visit);
  }

  /// Whether it has sections, and every section and segment lies inside.
  bool isWhole() const;

private:
  File(Bytes image, const UniqueFd* file, uint64_t sizeBytes, uint64_t mostBytes)
      : image_(image), file_(file), sizeBytes_(sizeBytes), mostBytes_(mostBytes) {}
  static std::optional<File> read(File file);
  void readSections();
  std::optional<Bytes> bytesAt(uint64_t offset, uint64_t size) const;

  Bytes image_;          ///< none if it is on disk
  const UniqueFd* file_; ///< null if it is in memory
  uint64_t sizeBytes_;
  uint64_t mostBytes_;
  mutable std::vector<std::vector<std::byte>> kept_; ///< what was read from the disk
  Elf64_Ehdr header_{};
  std::vector<Section> sections_;
};

} // namespace mneme::elf
