#include "runtime/core/embed/cpu_code.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/core/embed/elf_sections.h"

namespace mneme::embed {
namespace {

constexpr std::string_view kHeaderSymbol = "mneme_cpu_image";
constexpr uint64_t kWordBytes = 8;
/// More than any kernel has.
constexpr uint32_t kMostEntries = 1 << 20;

bool isRelative(uint16_t machine, uint64_t type) {
  return (machine == EM_X86_64 && type == R_X86_64_RELATIVE) ||
         (machine == EM_AARCH64 && type == R_AARCH64_RELATIVE);
}

/// An image by the addresses that it is linked to.
class LinkedImage {
public:
  LinkedImage(Bytes image, const elf::File& file)
      : image_(image), segments_(require(file.segments(), "segment table")) {
    const elf::Section* table = file.find(uint32_t{SHT_RELA});
    const Bytes entries = table ? contentOf(file, *table) : Bytes();
    for (uint64_t at = 0; const auto entry = valueAt<Elf64_Rela>(entries, at); at += sizeof *entry)
      if (isRelative(file.header().e_machine, ELF64_R_TYPE(entry->r_info)))
        pointers_[entry->r_offset] = static_cast<uint64_t>(entry->r_addend);
  }

  template <typename Structure> Structure read(uint64_t address) const {
    return readAt<Structure>(from(address), 0, "kernel description");
  }
  std::string text(uint64_t address) const { return std::string(textAt(from(address), 0)); }
  /// The pointer that is at this address.
  uint64_t pointer(uint64_t address) const {
    const auto found = pointers_.find(address);
    return found == pointers_.end() ? 0 : found->second;
  }

private:
  Bytes from(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz)
        return requireSlice(image_, segment.p_offset, segment.p_filesz, "segment")
            .subspan(address - segment.p_vaddr);
    refuseOutside("kernel description");
  }

  Bytes image_;
  std::vector<Elf64_Phdr> segments_;
  std::map<uint64_t, uint64_t> pointers_;
};

DeviceVariable variableAt(const LinkedImage& image, uint64_t address) {
  const auto entry = image.read<mneme_cpu_global>(address);
  return {.name = image.text(image.pointer(address + offsetof(mneme_cpu_global, name))),
          .sizeBytes = entry.sizeBytes,
          .isConstant = entry.isConstant != 0};
}

/// The address of the description; nothing if the file has none.
std::optional<uint64_t> headerIn(const elf::File& file) {
  std::optional<uint64_t> at;
  file.forEachSymbol(SHT_DYNSYM, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (name == kHeaderSymbol && symbol.st_shndx != SHN_UNDEF)
      at = symbol.st_value;
  });
  return at;
}

/// Arguments lie where each is as aligned as its size allows.
DeviceParameter behind(uint64_t end, uint64_t sizeBytes) {
  const uint64_t alignment = std::clamp<uint64_t>(sizeBytes & (~sizeBytes + 1), 1, kWordBytes);
  return {.offset = (end + alignment - 1) / alignment * alignment, .sizeBytes = sizeBytes};
}

} // namespace

bool isCpuImage(Bytes image) {
  const auto file = elf::isElf64(image) ? elf::File::in(image) : std::nullopt;
  return file && headerIn(*file);
}

std::optional<DeviceCode> readCpuImage(Bytes image) {
  if (!elf::isElf64(image))
    return std::nullopt;
  const std::optional<elf::File> file = readElf(image);
  const std::optional<uint64_t> at = file ? headerIn(*file) : std::nullopt;
  if (!at)
    return std::nullopt;
  const LinkedImage linked(image, *file);
  const auto header = linked.read<mneme_cpu_image_header>(*at);
  if (header.abi != MNEME_CPU_IMAGE_ABI || header.argCount > kMostEntries ||
      header.globalCount > kMostEntries)
    throw Error(ErrorCode::ArtifactCorrupt,
                "the image for the CPU device is of another version of mneme, or damaged");
  const auto member = [&](size_t offset) { return linked.pointer(*at + offset); };
  DeviceCode code;
  DeviceKernel& kernel = code.kernels.emplace_back();
  kernel.name = linked.text(member(offsetof(mneme_cpu_image_header, kernelName)));
  kernel.staticSharedBytes = header.staticSharedBytes;
  kernel.parameters.emplace();
  const uint64_t sizes = member(offsetof(mneme_cpu_image_header, argSizes));
  uint64_t end = 0;
  for (uint64_t index = 0; index < header.argCount; ++index) {
    const auto sizeBytes = linked.read<uint64_t>(sizes + index * sizeof(uint64_t));
    const DeviceParameter& place = kernel.parameters->emplace_back(behind(end, sizeBytes));
    end = place.offset + place.sizeBytes;
  }
  const uint64_t globals = member(offsetof(mneme_cpu_image_header, globals));
  for (uint64_t index = 0; index < header.globalCount; ++index)
    code.variables.push_back(variableAt(linked, globals + index * sizeof(mneme_cpu_global)));
  return code;
}

} // namespace mneme::embed
