#include "runtime/recorder/own_references.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <fcntl.h>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/unique_fd.h"

namespace mneme::record {
namespace {

constexpr uint64_t kMostTableBytes = 256ull << 20;

std::vector<uint64_t> addressesOf(uint64_t base,
                                  const std::function<bool(std::string_view)>& isAsked) {
  std::vector<uint64_t> addresses;
  const UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!file)
    return addresses;
  if (const auto image = elf::File::of(file, kMostTableBytes))
    image->forEachSymbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::string_view name) {
      if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
          isAsked(name))
        addresses.push_back(base + symbol.st_value);
    });
  return addresses;
}

/// Whether the four bytes at `at` are the distance that a call, a jump or a load of an address
/// holds, from the end of the instruction. Elsewhere small numbers may happen to fit.
bool isDistance(std::span<const std::byte> code, size_t at) {
  const auto byteBefore = [&](size_t count) {
    return at < count ? 0u : std::to_integer<unsigned>(code[at - count]);
  };
  const bool isCall = byteBefore(1) == 0xe8, isJump = byteBefore(1) == 0xe9;
  const bool isConditional = byteBefore(2) == 0x0f && (byteBefore(1) & 0xf0) == 0x80;
  const bool isLoad = byteBefore(2) == 0x8d && (byteBefore(1) & 0xc7) == 0x05;
  return isCall || isJump || isConditional || isLoad;
}

/// Code that is not position-independent may hold the address itself.
bool isReferredToByCode(std::span<const std::byte> code, uint64_t address) {
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  for (size_t at = 0; at + sizeof(int32_t) <= code.size(); ++at) {
    int32_t value = 0;
    std::memcpy(&value, code.data() + at, sizeof value);
    const uint64_t there = begin + at + sizeof value + static_cast<uint64_t>(int64_t{value});
    if ((there == address && isDistance(code, at)) || static_cast<uint32_t>(value) == address)
      return true;
  }
  return false;
}

/// Pointers lie at their own alignment.
bool isPointedTo(std::span<const std::byte> data, uint64_t address) {
  const size_t first = -reinterpret_cast<uintptr_t>(data.data()) % sizeof address;
  for (size_t at = first; at + sizeof address <= data.size(); at += sizeof address)
    if (std::memcmp(data.data() + at, &address, sizeof address) == 0)
      return true;
  return false;
}

} // namespace

std::optional<bool> refersToOwn(const dl_phdr_info& program,
                                const std::function<bool(std::string_view name)>& isAsked) {
#ifndef __x86_64__
  return std::nullopt; // code of other processors is not read
#endif
  const std::vector<uint64_t> addresses = addressesOf(program.dlpi_addr, isAsked);
  if (addresses.empty())
    return std::nullopt;
  for (const ElfW(Phdr) & part : std::span(program.dlpi_phdr, program.dlpi_phnum)) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0)
      continue;
    const std::span bytes(reinterpret_cast<const std::byte*>(program.dlpi_addr + part.p_vaddr),
                          part.p_filesz);
    if (std::ranges::any_of(addresses, [&](uint64_t address) {
          return (part.p_flags & PF_X) != 0 ? isReferredToByCode(bytes, address)
                                            : isPointedTo(bytes, address);
        }))
      return true;
  }
  return false;
}

} // namespace mneme::record
