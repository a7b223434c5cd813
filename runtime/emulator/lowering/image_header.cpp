// A step of the lowering (steps.h): describes the image in the layout of abi/cpu_image.h.
#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// Builds constants laid out as the C structs of abi/cpu_image.h.
class HeaderBuilder {
public:
  explicit HeaderBuilder(Module& module) : module_(module), context_(module.getContext()) {}

  Constant* number32(uint64_t value) { return ConstantInt::get(Type::getInt32Ty(context_), value); }
  Constant* number64(uint64_t value) { return ConstantInt::get(Type::getInt64Ty(context_), value); }
  Constant* null() { return ConstantPointerNull::get(PointerType::get(context_, 0)); }
  Constant* orNull(Constant* pointer) { return pointer ? pointer : null(); }

  Constant* text(StringRef value) {
    return hidden(ConstantDataArray::getString(context_, value), "mneme.text");
  }
  Constant* structure(ArrayRef<Constant*> fields) {
    return ConstantStruct::getAnon(context_, fields);
  }
  Constant* table(ArrayRef<Constant*> rows, const Twine& name) {
    if (rows.empty())
      return null();
    return hidden(ConstantArray::get(ArrayType::get(rows[0]->getType(), rows.size()), rows), name);
  }

private:
  Constant* hidden(Constant* value, const Twine& name) {
    return new GlobalVariable(module_, value->getType(), true, GlobalValue::PrivateLinkage, value,
                              name);
  }

  Module& module_;
  LLVMContext& context_;
};

Constant* globalRows(HeaderBuilder& b, const GlobalTable& globals) {
  SmallVector<Constant*> rows;
  for (const GlobalTable::Entry& entry : globals.entries)
    rows.push_back(
        b.structure({b.text(entry.name), b.number64(entry.sizeBytes), b.number64(entry.alignBytes),
                     b.number32(entry.isConstant), b.number32(entry.isDefined),
                     b.orNull(entry.initializer), entry.slot}));
  return b.table(rows, "mneme.globals");
}

Constant* relocationRows(HeaderBuilder& b, const GlobalTable& globals) {
  SmallVector<Constant*> rows;
  for (const GlobalTable::Relocation& relocation : globals.relocations)
    rows.push_back(
        b.structure({b.number32(relocation.global), b.number32(relocation.target),
                     b.number64(relocation.offset), b.number64(uint64_t(relocation.addend))}));
  return b.table(rows, "mneme.relocations");
}

Constant* meetingRows(HeaderBuilder& b, const KernelEntry& entry) {
  SmallVector<Constant*> rows;
  for (const mneme_cpu_meeting& meeting : entry.meetings) {
    SmallVector<Constant*> fields;
    for (uint32_t field : {meeting.kind, meeting.mode, meeting.site, meeting.given})
      fields.push_back(b.number32(field));
    for (uint32_t field : meeting.fixed)
      fields.push_back(b.number32(field));
    rows.push_back(b.structure(fields));
  }
  return b.table(rows, "mneme.meetings");
}

} // namespace

void emitImageHeader(Module& module, const std::string& kernelName, const KernelEntry& entry,
                     const KernelTraits& traits, unsigned warpSize, const SharedLayout& shared,
                     const GlobalTable& globals) {
  HeaderBuilder b(module);
  SmallVector<Constant*> sizes;
  for (uint64_t size : entry.argSizes)
    sizes.push_back(b.number64(size));
  Constant* header = b.structure({
      b.number32(MNEME_CPU_IMAGE_ABI),
      b.number32((traits.isLoop ? MNEME_CPU_IMAGE_LOOP : 0) |
                 (warpSize == 64 ? MNEME_CPU_IMAGE_WARP64 : 0) |
                 (traits.waits ? MNEME_CPU_IMAGE_WAITS : 0) |
                 (entry.meetings.empty() ? 0 : MNEME_CPU_IMAGE_ROUNDS)),
      b.text(kernelName),
      b.number64(shared.staticBytes),
      b.number64(shared.alignBytes),
      b.number32(sizes.size()),
      b.number32(globals.entries.size()),
      b.number32(globals.relocations.size()),
      b.number32(entry.localBytes),
      b.table(sizes, "mneme.arg.sizes"),
      globalRows(b, globals),
      relocationRows(b, globals),
      module.getNamedGlobal(kServicesGlobal),
      traits.isLoop ? b.null() : entry.function,
      traits.isLoop ? entry.function : b.null(),
      b.null(),
      b.number64(entry.scratchBytes),
      meetingRows(b, entry),
      b.number64(entry.laneOffset),
  });
  assert(module.getDataLayout().getTypeAllocSize(header->getType()) ==
         sizeof(mneme_cpu_image_header));
  auto* symbol = new GlobalVariable(module, header->getType(), true, GlobalValue::ExternalLinkage,
                                    header, "mneme_cpu_image");
  symbol->setAlignment(Align(16));
}

} // namespace mneme::compile::cpu
