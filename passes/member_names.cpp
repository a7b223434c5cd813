#include "passes/member_names.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>

namespace mneme::passes {
namespace {

constexpr unsigned kDeepest = 32;

/// Returns the type without typedefs and qualifiers.
const llvm::DIType* plain(const llvm::DIType* type) {
  while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    const unsigned tag = derived->getTag();
    if (tag != llvm::dwarf::DW_TAG_typedef && tag != llvm::dwarf::DW_TAG_const_type &&
        tag != llvm::dwarf::DW_TAG_volatile_type && tag != llvm::dwarf::DW_TAG_restrict_type)
      break;
    type = derived->getBaseType();
  }
  return type;
}

uint64_t bytesOf(const llvm::DIType& type) { return type.getSizeInBits() / 8; }

void join(std::string& path, llvm::StringRef name) {
  if (!path.empty() && !name.empty())
    path += '.';
  path += name;
}

std::string elementPath(const llvm::DICompositeType& array, uint64_t offset, std::string path,
                        unsigned depth);

/// Returns "" where no named member begins at the offset.
std::string pathTo(const llvm::DIType* type, uint64_t offset, std::string path, unsigned depth) {
  type = plain(type);
  const auto* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(type);
  if (!composite)
    return type && offset == 0 ? path : "";
  if (depth == kDeepest)
    return "";
  if (composite->getTag() == llvm::dwarf::DW_TAG_array_type)
    return elementPath(*composite, offset, std::move(path), depth);
  if (composite->getTag() == llvm::dwarf::DW_TAG_union_type ||
      composite->getTag() == llvm::dwarf::DW_TAG_enumeration_type)
    return offset == 0 ? path : "";
  for (const llvm::DINode* element : composite->getElements()) {
    const auto* member = llvm::dyn_cast<llvm::DIDerivedType>(element);
    if (!member || member->isStaticMember())
      continue;
    const bool isBase = member->getTag() == llvm::dwarf::DW_TAG_inheritance;
    const llvm::DIType* inner = plain(member->getBaseType());
    if ((!isBase && member->getTag() != llvm::dwarf::DW_TAG_member) || !inner)
      continue;
    const uint64_t begin = member->getOffsetInBits() / 8;
    if (offset < begin || offset >= begin + bytesOf(*inner))
      continue;
    std::string longer = path;
    join(longer, isBase ? "" : member->getName());
    if (std::string found = pathTo(inner, offset - begin, std::move(longer), depth + 1);
        !found.empty())
      return found;
  }
  return "";
}

/// Returns "[1][0]" for the third element of an array of axes; "[2]" where they are unknown.
std::string subscripts(const llvm::DICompositeType& array, uint64_t index) {
  const llvm::DINodeArray axes = array.getElements();
  std::string text;
  for (unsigned at = axes.size(); at-- > 1;) {
    const auto* axis = llvm::dyn_cast_or_null<llvm::DISubrange>(axes[at]);
    const auto* extent =
        axis ? llvm::dyn_cast_if_present<llvm::ConstantInt*>(axis->getCount()) : nullptr;
    if (!extent || extent->getSExtValue() <= 0)
      break; // the axes before it stay together
    text = '[' + std::to_string(index % extent->getZExtValue()) + ']' + text;
    index /= extent->getZExtValue();
  }
  return '[' + std::to_string(index) + ']' + text;
}

std::string elementPath(const llvm::DICompositeType& array, uint64_t offset, std::string path,
                        unsigned depth) {
  const llvm::DIType* element = plain(array.getBaseType());
  if (!element || bytesOf(*element) == 0)
    return "";
  path += subscripts(array, offset / bytesOf(*element));
  return pathTo(element, offset % bytesOf(*element), std::move(path), depth + 1);
}

} // namespace

llvm::SmallVector<const llvm::DIType*> argumentTypes(const llvm::Function& kernel) {
  llvm::SmallVector<const llvm::DIType*> types;
  for (const llvm::Instruction& instruction : llvm::instructions(kernel))
    for (const llvm::DbgVariableRecord& record :
         llvm::filterDbgVars(instruction.getDbgRecordRange())) {
      const llvm::DILocalVariable* variable = record.getVariable();
      const unsigned position = variable->getArg();
      if (position == 0 || variable->getScope() != kernel.getSubprogram())
        continue;
      types.resize(std::max<size_t>(types.size(), position));
      types[position - 1] = variable->getType();
    }
  return types;
}

std::string MemberNames::at(uint64_t offset) const {
  return type_ ? pathTo(type_, offset, "", 0) : "";
}

} // namespace mneme::passes
