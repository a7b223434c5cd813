// Makes ELF files by hand: sections one behind the other, and their headers at the end.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace mneme::test {

class ElfMaker {
public:
  ElfMaker() { add("", SHT_NULL, std::string()); }

  /// Returns the section's number.
  uint32_t add(const std::string& name, uint32_t type, std::span<const std::byte> bytes,
               uint32_t link = 0) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<uint32_t>(names_.size());
    header.sh_type = type;
    header.sh_link = link;
    header.sh_offset = file_.size();
    header.sh_size = bytes.size();
    names_ += name + '\0';
    file_.insert(file_.end(), bytes.begin(), bytes.end());
    headers_.push_back(header);
    return static_cast<uint32_t>(headers_.size() - 1);
  }

  uint32_t add(const std::string& name, uint32_t type, const std::string& text) {
    return add(name, type, std::as_bytes(std::span(text)));
  }

  std::vector<std::byte> finish(uint16_t machine = 0, uint8_t abi = 0, uint32_t flags = 0) {
    const auto names = add(".shstrtab", SHT_STRTAB, names_ + ".shstrtab" + '\0');
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_ABIVERSION] = abi;
    header.e_machine = machine;
    header.e_flags = flags;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shoff = file_.size();
    header.e_shnum = static_cast<uint16_t>(headers_.size());
    header.e_shstrndx = static_cast<uint16_t>(names);
    const auto table = std::as_bytes(std::span(headers_));
    file_.insert(file_.end(), table.begin(), table.end());
    std::memcpy(file_.data(), &header, sizeof header);
    return file_;
  }

private:
  std::string names_;
  std::vector<std::byte> file_ = std::vector<std::byte>(sizeof(Elf64_Ehdr));
  std::vector<Elf64_Shdr> headers_;
};

} // namespace mneme::test
