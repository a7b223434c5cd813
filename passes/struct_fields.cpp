#include "passes/struct_fields.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>

#include "passes/member_names.h"
#include "passes/shielded.h"
#include "passes/value_kinds.h"
#include "runtime/compiler/ir/struct_reads.h"

namespace mneme::passes {
namespace {

using llvm::json::Array;
using llvm::json::Object;

constexpr size_t kMostFields = 256;
/// More than arguments of kernels have bytes.
constexpr size_t kMostLeaves = 1 << 15;

/// A member of a structure that has no members itself.
struct Field {
  uint64_t offset;
  uint64_t sizeBytes;
  llvm::Type* type; ///< null: bytes whose meaning is unknown
  bool isRead = false;
  bool isValue = false;   ///< some load reads exactly this member
  bool isOneValue = true; ///< no load reads it in parts or together with others
  bool isSeveral = false; ///< elements of an array

  uint64_t end() const { return offset + sizeBytes; }
  bool isReadAlone() const { return isValue && isOneValue; }
};

using Fields = llvm::SmallVector<Field>;

/// LLVM gives a union the type of one of its members, which need not be the one that is used.
bool isUnion(const llvm::StructType& type) {
  return type.hasName() && type.getName().starts_with("union.");
}

void addFields(llvm::Type* type, uint64_t offset, const llvm::DataLayout& layout, Fields& fields) {
  if (fields.size() > kMostLeaves)
    return;
  const uint64_t size = layout.getTypeAllocSize(type).getFixedValue();
  auto* structure = llvm::dyn_cast<llvm::StructType>(type);
  if (structure && !isUnion(*structure)) {
    const llvm::StructLayout* members = layout.getStructLayout(structure);
    for (unsigned index = 0; index < structure->getNumElements(); ++index)
      addFields(structure->getElementType(index),
                offset + members->getElementOffset(index).getFixedValue(), layout, fields);
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const uint64_t stride = layout.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (uint64_t index = 0; index < array->getNumElements() && fields.size() <= kMostLeaves;
         ++index)
      addFields(array->getElementType(), offset + index * stride, layout, fields);
  } else if (structure) {
    if (size > 0)
      fields.push_back({offset, size, nullptr});
  } else {
    fields.push_back({offset, layout.getTypeStoreSize(type).getFixedValue(), type});
  }
}

Fields fieldsOf(llvm::Type* type, const llvm::DataLayout& layout) {
  Fields fields;
  addFields(type, 0, layout, fields);
  if (fields.size() > kMostLeaves)
    fields.assign({{0, layout.getTypeAllocSize(type).getFixedValue(), nullptr}});
  return fields;
}

template <typename Visit>
void forEachIn(Fields& fields, uint64_t offset, uint64_t sizeBytes, const Visit& visit) {
  auto* field =
      llvm::partition_point(fields, [&](const Field& one) { return one.end() <= offset; });
  for (; field != fields.end() && field->offset < offset + sizeBytes; ++field)
    visit(*field);
}

/// Notes a read. Its type replaces the declared one, which is arbitrary in a union, and an integer
/// where code stores a pointer in one.
void noteRead(const ir::StructRead& read, const llvm::DataLayout& layout, Fields& fields) {
  llvm::Type* type = read.instruction->getType();
  const uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(read.instruction);
  forEachIn(fields, read.offset, size, [&](Field& field) {
    const bool isWhole = field.offset == read.offset && field.sizeBytes == size;
    field.isOneValue &= isWhole && !(load && load->isVolatile());
    if (isWhole && !type->isAggregateType() && (!field.type || !field.isRead))
      field.type = type;
    else if (isWhole && field.type != type)
      field.type = nullptr;
    field.isRead = true;
    field.isValue |= isWhole;
  });
}

void noteReads(const ir::StructReads& reads, const llvm::DataLayout& layout, Fields& fields) {
  for (const ir::StructRead& read : reads.values)
    noteRead(read, layout, fields);
  for (const auto& [offset, sizeBytes] : reads.copies)
    forEachIn(fields, offset, sizeBytes, [](Field& field) { field.isRead = true; });
  for (Field& field : fields) {
    field.isRead |= reads.isAllRead;
    field.isOneValue &= !reads.isWritten;
  }
}

/// Puts together what is read of large arrays: neighbours of one type that no load reads alone.
Fields withoutMultitudes(Fields fields) {
  llvm::erase_if(fields, [](const Field& field) { return !field.isRead; });
  if (fields.size() <= kMostFields)
    return fields;
  Fields few;
  llvm::Type* type = nullptr; // of the elements that the last of them holds
  for (const Field& field : fields) {
    const bool isNext = !few.empty() && few.back().end() == field.offset && type == field.type;
    const bool isElement = !field.isReadAlone() && (!field.type || !field.type->isPointerTy());
    if (isElement && isNext && !few.back().isReadAlone()) {
      few.back().sizeBytes += field.sizeBytes;
      few.back().type = nullptr;
      few.back().isSeveral = true;
    } else {
      few.push_back(field);
    }
    type = field.type;
  }
  if (few.size() > kMostFields)
    few.assign({{few.front().offset, few.back().end() - few.front().offset, nullptr, true}});
  return few;
}

Array describe(const Fields& fields, const MemberNames& names) {
  Array result;
  for (const Field& field : fields) {
    const ArgKind kind = field.type ? kindOf(field.type) : ArgKind::Unknown;
    const bool isScalar =
        kind == ArgKind::Pointer || kind == ArgKind::Integer || kind == ArgKind::Float;
    Object described{{"offset", field.offset},
                     {"size", field.sizeBytes},
                     {"kind", llvm::StringRef(isScalar ? nameOf(kind) : "bytes")},
                     {"type", isScalar ? typeName(field.type) : "bytes"},
                     {"specializable", isScalar && field.isValue && field.isOneValue &&
                                           isSpecializable(field.type)}};
    const std::string whole = names.at(field.offset);
    llvm::StringRef name = whole;
    if (field.isSeveral)
      name.consume_back("[0]");
    if (!name.empty())
      described["name"] = name.str();
    result.push_back(std::move(described));
  }
  return result;
}

} // namespace

llvm::SmallVector<std::optional<Array>> describeFields(const Closure& closure) {
  const llvm::Function& kernel = *closure.module->getFunction(closure.kernel);
  llvm::SmallVector<std::optional<Array>> result(kernel.arg_size());
  if (llvm::none_of(kernel.args(), ir::structByValue))
    return result;
  const std::string problem = runShielded(
      bitcodeOf(*closure.module), [&](llvm::Module& copy, llvm::TargetMachine& machine) {
        ir::exposeStructReads(copy, machine);
        for (llvm::Argument& argument : copy.getFunction(closure.kernel)->args())
          if (llvm::Type* type = ir::structByValue(argument)) {
            Fields fields = fieldsOf(type, copy.getDataLayout());
            noteReads(ir::readsOfStruct(argument), copy.getDataLayout(), fields);
            const size_t index = argument.getArgNo();
            result[index] = describe(
                withoutMultitudes(std::move(fields)),
                MemberNames(index < closure.argTypes.size() ? closure.argTypes[index] : nullptr));
          }
        return std::string();
      });
  if (!problem.empty())
    result.assign(kernel.arg_size(), std::nullopt);
  return result;
}

} // namespace mneme::passes
