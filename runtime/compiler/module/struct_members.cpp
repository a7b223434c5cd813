#include "runtime/compiler/module/struct_members.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <map>
#include <string>

#include "runtime/compiler/ir/struct_reads.h"
#include "runtime/compiler/module/constant_content.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

/// The bytes of one argument that are known.
struct Known {
  llvm::SmallVector<char, 0> bytes;
  llvm::BitVector isSet;
};

llvm::Argument& argumentOf(llvm::Function& kernel, const mneme_arg_value& member) {
  const llvm::DataLayout& layout = kernel.getParent()->getDataLayout();
  llvm::Argument* argument =
      member.index < kernel.arg_size() ? kernel.getArg(member.index) : nullptr;
  llvm::Type* type = argument ? ir::structByValue(*argument) : nullptr;
  const uint64_t size = type ? layout.getTypeAllocSize(type).getFixedValue() : 0;
  if (member.offset > size || member.value.size > size - member.offset)
    throw Error(ErrorCode::InvalidArgument,
                "kernel '" + kernel.getName().str() + "' takes no structure as argument " +
                    std::to_string(member.index) + " with a member of " +
                    std::to_string(member.value.size) + " bytes at offset " +
                    std::to_string(member.offset));
  return *argument;
}

void add(Known& known, const mneme_arg_value& member) {
  const size_t end = member.offset + member.value.size;
  if (known.bytes.size() < end) {
    known.bytes.resize(end);
    known.isSet.resize(end);
  }
  std::memcpy(known.bytes.data() + member.offset, member.value.data, member.value.size);
  known.isSet.set(member.offset, end);
}

/// An address that is chosen at run time may lead elsewhere.
bool isOf(const llvm::Instruction& read, const llvm::Argument& argument) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&read);
  if (!load)
    return true;
  if (!load->isSimple())
    return false;
  const llvm::DataLayout& layout = argument.getParent()->getParent()->getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
  return load->getPointerOperand()->stripAndAccumulateConstantOffsets(
             layout, offset, /*AllowNonInbounds=*/true) == &argument;
}

void replace(const ir::StructRead& read, const llvm::Argument& argument, const Known& known,
             TraceText trace) {
  llvm::Instruction& instruction = *read.instruction;
  llvm::Type* type = instruction.getType();
  const llvm::DataLayout& layout = instruction.getModule()->getDataLayout();
  const uint64_t end = read.offset + layout.getTypeStoreSize(type).getFixedValue();
  if (end > known.bytes.size() || known.isSet.find_first_unset_in(read.offset, end) != -1 ||
      type->isPtrOrPtrVectorTy() || type->isAggregateType() || !isOf(instruction, argument))
    return;
  llvm::Constant* constant =
      constantFrom(type, llvm::ArrayRef(known.bytes).slice(read.offset, end - read.offset), layout);
  instruction.replaceAllUsesWith(constant);
  if (trace)
    llvm::raw_string_ostream(*trace)
        << "[ArgSpec] Replaced Function " << argument.getParent()->getName() << " ArgNo "
        << argument.getArgNo() << " Offset " << read.offset << " with value " << *constant << "\n";
}

} // namespace

void specializeMembers(llvm::Function& kernel, llvm::ArrayRef<mneme_arg_value> values,
                       llvm::TargetMachine& machine, TraceText trace) {
  std::map<llvm::Argument*, Known> known;
  for (const mneme_arg_value& value : values)
    if (value.content == MNEME_CONSTANT_MEMBER)
      add(known[&argumentOf(kernel, value)], value);
  if (known.empty())
    return;
  ir::exposeStructReads(*kernel.getParent(), machine);
  for (const auto& [argument, bytes] : known)
    if (const ir::StructReads reads = ir::readsOfStruct(*argument); !reads.isWritten)
      for (const ir::StructRead& read : reads.values)
        replace(read, *argument, bytes, trace);
}

} // namespace mneme::compile
