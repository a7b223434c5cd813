#include "runtime/core/base/elf_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace mneme::elf {
namespace {

constexpr uint64_t kNoteAlignment = 4;

uint64_t padded(uint64_t size) {
  return (size + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment;
}

bool readFully(int descriptor, uint64_t offset, std::vector<std::byte>& out) {
  for (size_t done = 0; done < out.size();) {
    const ssize_t count =
        pread(descriptor, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count == 0 || (count < 0 && errno != EINTR))
      return false;
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return true;
}

} // namespace

bool isElf(Bytes bytes) noexcept {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

bool isElf64(Bytes bytes) noexcept {
  return isElf(bytes) && bytes.size() >= EI_NIDENT && bytes[EI_CLASS] == std::byte{ELFCLASS64} &&
         bytes[EI_DATA] == std::byte{ELFDATA2LSB};
}

std::optional<Bytes> findNote(Bytes notes, std::string_view owner, uint32_t type) {
  for (uint64_t at = 0; const auto note = valueAt<Elf64_Nhdr>(notes, at);) {
    const uint64_t nameAt = at + sizeof(Elf64_Nhdr);
    const uint64_t contentAt = nameAt + padded(note->n_namesz);
    const std::optional<Bytes> name = slice(notes, nameAt, note->n_namesz);
    const std::optional<Bytes> content = slice(notes, contentAt, note->n_descsz);
    if (!name || !content)
      return std::nullopt;
    if (note->n_type == type && textAt(*name, 0) == owner)
      return content;
    at = contentAt + padded(note->n_descsz);
  }
  return Bytes();
}

std::optional<File> File::in(Bytes image) {
  return read(File(image, nullptr, image.size(), image.size()));
}

std::optional<File> File::of(const UniqueFd& file, uint64_t mostBytes) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0)
    return std::nullopt;
  return read(File({}, &file, static_cast<uint64_t>(status.st_size), mostBytes));
}

std::optional<File> File::read(File file) {
  const std::optional<Bytes> start = file.bytesAt(0, sizeof(Elf64_Ehdr));
  if (!start || !isElf64(*start))
    return std::nullopt;
  file.header_ = *valueAt<Elf64_Ehdr>(*start, 0);
  file.readSections();
  return file;
}

void File::readSections() {
  if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shoff > sizeBytes_)
    return;
  const uint64_t room = (sizeBytes_ - header_.e_shoff) / sizeof(Elf64_Shdr);
  const uint64_t count = std::min(sectionCount(), room);
  const auto table = bytesAt(header_.e_shoff, count * sizeof(Elf64_Shdr)).value_or(Bytes());
  for (uint64_t at = 0; const auto section = valueAt<Elf64_Shdr>(table, at); at += sizeof *section)
    sections_.push_back({*section, {}});
  if (header_.e_shstrndx >= sections_.size())
    return;
  const Bytes names = content(sections_[header_.e_shstrndx]).value_or(Bytes());
  for (Section& section : sections_)
    section.name = textAt(names, section.header.sh_name);
}

const Section* File::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

const Section* File::find(uint32_t type) const noexcept {
  const auto typeOf = [](const Section& section) { return section.header.sh_type; };
  const auto found = std::ranges::find(sections_, type, typeOf);
  return found == sections_.end() ? nullptr : &*found;
}

const Section* File::namesOf(const Section& table) const noexcept {
  return table.header.sh_link < sections_.size() ? &sections_[table.header.sh_link] : nullptr;
}

std::optional<std::vector<Elf64_Phdr>> File::segments() const {
  const auto table = bytesAt(header_.e_phoff, header_.e_phnum * sizeof(Elf64_Phdr));
  if (!table || (header_.e_phnum > 0 && header_.e_phentsize != sizeof(Elf64_Phdr)))
    return std::nullopt;
  std::vector<Elf64_Phdr> segments;
  for (uint64_t at = 0; const auto segment = valueAt<Elf64_Phdr>(*table, at); at += sizeof *segment)
    segments.push_back(*segment);
  return segments;
}

std::optional<Bytes> File::content(const Section& section) const {
  const Elf64_Shdr& header = section.header;
  return header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL
             ? Bytes()
             : bytesAt(header.sh_offset, header.sh_size);
}

std::optional<Bytes> File::content(const Elf64_Phdr& segment) const {
  return bytesAt(segment.p_offset, segment.p_filesz);
}

bool File::isWhole() const {
  const auto segments = this->segments();
  const auto isThere = [&](const auto& part) { return content(part).has_value(); };
  return !sections_.empty() && sections_.size() == sectionCount() && segments &&
         std::ranges::all_of(sections_, isThere) && std::ranges::all_of(*segments, isThere);
}

std::optional<Bytes> File::bytesAt(uint64_t offset, uint64_t size) const {
  if (!file_)
    return slice(image_, offset, size);
  if (size > mostBytes_ || !isInside(sizeBytes_, offset, size))
    return std::nullopt;
  std::vector<std::byte> bytes(size);
  if (!readFully(file_->get(), offset, bytes))
    return std::nullopt;
  return Bytes(kept_.emplace_back(std::move(bytes)));
}

} // namespace mneme::elf
