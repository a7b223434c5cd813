#include "runtime/core/embed/carried_kernels.h"

#include <algorithm>
#include <string_view>

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
  return require(elf::findNote(notes, kNoteOwner, kMetadataNote), "note");
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
std::vector<KernelGlobal> variablesIn(const elf::File& file) {
  std::vector<KernelGlobal> found;
  forEachVariable(file, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (!name.ends_with(kDescriptorSuffix))
      found.push_back({.name = std::string(name), .sizeBytes = symbol.st_size, .alignBytes = 16});
  });
  return found;
}

} // namespace

std::vector<KernelBlob> kernelsThatCarryIr(Bytes codeObject) {
  const elf::File file = require(readElf(codeObject), "ELF header");
  const elf::Section* ir =
      findSection(file, [](const elf::Section& one) { return one.name == kCarriedIrSection; });
  Bytes packed;
  findSection(file, [&](const elf::Section& one) {
    if (one.header.sh_type == SHT_NOTE)
      packed = metadataIn(contentOf(file, one));
    return !packed.empty();
  });
  if (!ir || packed.empty())
    corrupt("it carries IR and has no metadata");
  const Bytes bitcode = contentOf(file, *ir);
  std::vector<KernelBlob> kernels;
  try {
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
      blob.globals = variablesIn(file);
      blob.sharedBytes = kernel.at(".group_segment_fixed_size").get<uint64_t>();
      blob.maxThreads = kernel.at(".max_flat_workgroup_size").get<uint32_t>();
      blob.metadataJson = "{}";
      blob.bitcode.assign(bitcode.begin(), bitcode.end());
    }
  } catch (const json::exception& failure) {
    corrupt(failure.what());
  }
  return kernels;
}

} // namespace mneme::embed
