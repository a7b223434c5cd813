#include "runtime/core/embed/carried_kernels.h"

#include <algorithm>
#include <string_view>

#include <elf.h>
#include <nlohmann/json.hpp>

#include "runtime/core/abi/carried_ir.h"
#include "runtime/core/embed/elf_sections.h"

namespace mneme::embed {
namespace {

using nlohmann::json;

constexpr uint32_t kMetadataNote = 32; // NT_AMDGPU_METADATA
constexpr std::string_view kNoteOwner = "AMDGPU";
constexpr std::string_view kTargetPrefix = "amdgcn-amd-amdhsa--";
constexpr std::string_view kDescriptorSuffix = ".kd"; // the object beside every kernel
constexpr uint64_t kMostAlignment = 16;               // of an argument

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

[[noreturn]] void corrupt(const std::string& why) {
  throw Error(ErrorCode::ArtifactCorrupt, "the code object is damaged: " + why);
}

/// The note with the metadata, which is MessagePack.
Bytes metadataIn(Bytes notes) {
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    const auto header = readAt<Elf64_Nhdr>(notes, at, "note");
    at += sizeof header;
    const Bytes owner = requireSlice(notes, at, header.n_namesz, "note");
    at += roundUp(header.n_namesz, 4);
    const Bytes content = requireSlice(notes, at, header.n_descsz, "note");
    at += roundUp(header.n_descsz, 4);
    if (header.n_type == kMetadataNote && owner.size() == kNoteOwner.size() + 1 &&
        std::memcmp(owner.data(), kNoteOwner.data(), kNoteOwner.size()) == 0)
      return content;
  }
  return {};
}

/// The largest alignment that puts an argument at `offset` behind one that ends at `end`.
uint64_t alignmentFor(uint64_t end, uint64_t offset) {
  uint64_t alignment = kMostAlignment;
  while (alignment > 1 && roundUp(end, alignment) != offset)
    alignment /= 2;
  return alignment;
}

std::vector<KernelArg> argsOf(const json& kernel) {
  std::vector<KernelArg> args;
  uint64_t end = 0;
  for (const json& value : kernel.value(".args", json::array())) {
    const auto kind = value.at(".value_kind").get<std::string>();
    if (kind.starts_with("hidden_"))
      continue;
    KernelArg arg;
    const auto offset = value.at(".offset").get<uint64_t>();
    arg.sizeBytes = value.at(".size").get<uint64_t>();
    arg.alignBytes = alignmentFor(end, offset);
    arg.kind = kind == "by_value" ? ArgKind::Aggregate : ArgKind::Pointer;
    end = offset + arg.sizeBytes;
    args.push_back(std::move(arg));
  }
  return args;
}

/// Variables that the host can name.
std::vector<KernelGlobal> variablesIn(const ElfSections& elf) {
  std::vector<KernelGlobal> found;
  const auto table = elf.find([](const ElfSection& s) { return s.header.sh_type == SHT_DYNSYM; });
  if (!table || table->header.sh_link >= elf.count())
    return found;
  const Bytes symbols = table->content, names = elf.at(table->header.sh_link).content;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = readAt<Elf64_Sym>(symbols, at, "symbol");
    const std::string_view name = nameAt(names, symbol.st_name);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
        symbol.st_size > 0 && !name.ends_with(kDescriptorSuffix))
      found.push_back({.name = std::string(name), .sizeBytes = symbol.st_size, .alignBytes = 16});
  }
  return found;
}

} // namespace

std::vector<KernelBlob> kernelsThatCarryIr(Bytes codeObject) {
  const ElfSections elf(codeObject);
  const auto ir = elf.find([](const ElfSection& s) { return s.name == kCarriedIrSection; });
  const auto notes = elf.find([](const ElfSection& s) {
    return s.header.sh_type == SHT_NOTE && !metadataIn(s.content).empty();
  });
  if (!ir || !notes)
    corrupt("it carries IR and has no metadata");
  std::vector<KernelBlob> kernels;
  try {
    const Bytes packed = metadataIn(notes->content);
    const auto* begin = reinterpret_cast<const uint8_t*>(packed.data());
    const json metadata = json::from_msgpack(begin, begin + packed.size());
    auto target = metadata.at("amdhsa.target").get<std::string>();
    if (target.starts_with(kTargetPrefix))
      target.erase(0, kTargetPrefix.size());
    for (const json& kernel : metadata.at("amdhsa.kernels")) {
      KernelBlob& blob = kernels.emplace_back();
      blob.kernel = blob.demangled = kernel.at(".name").get<std::string>();
      blob.arch = target.substr(0, target.find(':'));
      blob.triple = "amdgcn-amd-amdhsa";
      blob.args = argsOf(kernel);
      blob.globals = variablesIn(elf);
      blob.sharedBytes = kernel.at(".group_segment_fixed_size").get<uint64_t>();
      blob.maxThreads = kernel.at(".max_flat_workgroup_size").get<uint32_t>();
      blob.metadataJson = "{}";
      blob.bitcode.assign(ir->content.begin(), ir->content.end());
    }
  } catch (const json::exception& failure) {
    corrupt(failure.what());
  }
  return kernels;
}

} // namespace mneme::embed
