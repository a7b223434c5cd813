#include "runtime/compiler/amd/code_object.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Object/ELFObjectFile.h>

#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::CompileFailed, "the code object " + what);
}

/// The note with the metadata, which is MessagePack.
llvm::StringRef metadataOf(const llvm::object::ELF64LEFile& file) {
  auto sections = file.sections();
  if (!sections)
    refuse("has no sections: " + llvm::toString(sections.takeError()));
  for (const auto& section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    llvm::StringRef found;
    for (const auto note : file.notes(section, error))
      if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(section.sh_addralign);
    if (error)
      refuse("has a damaged note: " + llvm::toString(std::move(error)));
    if (!found.empty())
      return found;
  }
  refuse("has no metadata");
}

uint64_t numberIn(llvm::msgpack::MapDocNode& kernel, const char* key) {
  const auto found = kernel.find(key);
  return found != kernel.end() && found->second.getKind() == llvm::msgpack::Type::UInt
             ? found->second.getUInt()
             : 0;
}

} // namespace

CodeObjectUsage usageInCodeObject(const std::string& codeObject, const std::string& kernel) {
  auto file = llvm::object::ELF64LEFile::create(codeObject);
  if (!file)
    refuse("is not an ELF file: " + llvm::toString(file.takeError()));
  llvm::msgpack::Document document;
  if (!document.readFromBlob(metadataOf(*file), /*Multi=*/false))
    refuse("has damaged metadata");
  auto& root = document.getRoot().getMap(/*Convert=*/true);
  for (auto& node : root["amdhsa.kernels"].getArray(/*Convert=*/true)) {
    auto& one = node.getMap(/*Convert=*/true);
    if (one[".name"].toString() != kernel)
      continue;
    CodeObjectUsage usage;
    usage.targetId = root["amdhsa.target"].toString();
    const auto number = [&](const char* key) { return static_cast<uint32_t>(numberIn(one, key)); };
    usage.vgprs = number(".vgpr_count");
    usage.agprs = number(".agpr_count");
    usage.sgprs = number(".sgpr_count");
    usage.vgprSpills = number(".vgpr_spill_count");
    usage.sgprSpills = number(".sgpr_spill_count");
    usage.ldsBytes = numberIn(one, ".group_segment_fixed_size");
    usage.scratchBytes = numberIn(one, ".private_segment_fixed_size");
    usage.waveSize = number(".wavefront_size");
    usage.maxWorkGroup = number(".max_flat_workgroup_size");
    return usage;
  }
  refuse("does not name kernel '" + kernel + "'");
}

uint32_t occupancyIn(const std::string& assembly, const std::string& kernel) {
  // "; Kernel info:" with lines such as "; Occupancy: 8" stands behind the code of each kernel.
  const llvm::StringRef text(assembly);
  const size_t begin = text.find("\n" + kernel + ":");
  const size_t line = begin == llvm::StringRef::npos ? begin : text.find("; Occupancy: ", begin);
  uint32_t waves = 0;
  if (line == llvm::StringRef::npos)
    return 0;
  llvm::StringRef rest = text.substr(line).ltrim("; Occupancy: ");
  return rest.consumeInteger(10, waves) ? 0 : waves;
}

} // namespace mneme::compile
