#include "runtime/compiler/module/element_values.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace mneme::compile {
namespace {

using Seen = llvm::SmallPtrSet<const llvm::Value*, 16>;

bool isFloatName(const std::string& name) { return name.front() == 'f' || name.front() == 'b'; }

/// Name of a scalar type; "" for anything but a number of a known size.
std::string nameOf(const llvm::Type* type) {
  if (type->isDoubleTy())
    return "f64";
  if (type->isFloatTy())
    return "f32";
  if (type->isHalfTy())
    return "f16";
  if (type->isBFloatTy())
    return "bf16";
  if (type->isPointerTy())
    return "u64";
  for (const unsigned bits : {8u, 16u, 32u, 64u})
    if (type->isIntegerTy(bits))
      return "u" + std::to_string(bits);
  return "";
}

/// Calls `visit` with what an integer is made of without arithmetic: bits, parts and choices.
template <typename Visit> bool visitParts(llvm::Value* value, Visit&& visit) {
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) {
    for (llvm::Value* incoming : phi->incoming_values())
      visit(incoming);
    return true;
  }
  if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(value)) {
    visit(choice->getTrueValue());
    visit(choice->getFalseValue());
    return true;
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(value)) {
    visit(insert->getOperand(0));
    visit(insert->getOperand(1));
    return true;
  }
  if (llvm::isa<llvm::BitCastInst, llvm::FreezeInst, llvm::ExtractElementInst,
                llvm::ShuffleVectorInst>(value)) {
    visit(llvm::cast<llvm::Instruction>(value)->getOperand(0));
    return true;
  }
  return false;
}

void noteStored(llvm::Value* value, ElementEvidence& evidence, Seen& seen) {
  if (!seen.insert(value).second || llvm::isa<llvm::UndefValue>(value))
    return;
  const std::string name = nameOf(value->getType()->getScalarType());
  if (name.empty()) {
    noteLeaves(value->getType(), evidence.computed);
    return;
  }
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  const bool isNothing = constant && constant->isNullValue();
  if (isFloatName(name)) {
    (isNothing ? evidence.moved : evidence.computed).insert(name);
    return;
  }
  if (visitParts(value, [&](llvm::Value* part) { noteStored(part, evidence, seen); }))
    return;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(value))
    if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())) {
      std::set<std::string> types;
      noteAssembly(assembly->getAsmString(), types);
      if (!types.empty()) {
        evidence.computed.insert(types.begin(), types.end());
        return;
      }
    }
  const bool isMoved =
      isNothing ||
      llvm::isa<llvm::LoadInst, llvm::AtomicCmpXchgInst, llvm::ExtractValueInst>(value);
  (isMoved ? evidence.moved : evidence.computed).insert(name);
}

bool isSum(llvm::Value* value, Seen& seen) {
  if (!seen.insert(value).second)
    return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(value)) {
    const llvm::Function* callee = call->getCalledFunction();
    return callee && value->getType()->isFPOrFPVectorTy() &&
           (callee->getName().contains("fma") || callee->getName().contains("add"));
  }
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction && (instruction->getOpcode() == llvm::Instruction::FAdd ||
                      instruction->getOpcode() == llvm::Instruction::FSub ||
                      instruction->getOpcode() == llvm::Instruction::FMul))
    return true;
  bool found = false;
  visitParts(value, [&](llvm::Value* part) { found = found || isSum(part, seen); });
  return found;
}

} // namespace

std::string ElementEvidence::type() const {
  const std::set<std::string>& types = computed.empty() ? moved : computed;
  std::set<std::string> floats;
  std::copy_if(types.begin(), types.end(), std::inserter(floats, floats.end()), isFloatName);
  const std::set<std::string>& counted = floats.empty() ? types : floats;
  return counted.size() == 1 ? *counted.begin() : "";
}

void noteLeaves(llvm::Type* type, std::set<std::string>& types) {
  if (const std::string name = nameOf(type->getScalarType()); !name.empty())
    types.insert(name);
  else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    noteLeaves(array->getElementType(), types);
  else if (auto* structure = llvm::dyn_cast<llvm::StructType>(type))
    for (llvm::Type* element : structure->elements())
      noteLeaves(element, types);
}

void noteStored(llvm::Value* value, ElementEvidence& evidence) {
  Seen seen;
  noteStored(value, evidence, seen);
}

void noteAssembly(llvm::StringRef text, std::set<std::string>& types) {
  static constexpr std::pair<const char*, const char*> kSuffixes[] = {
      {".f64", "f64"},    {".f32", "f32"},    {".f16", "f16"},
      {".bf16", "bf16"},  {".f16x2", "f16"},  {".bf16x2", "bf16"},
      {".v2.f32", "f32"}, {".v4.f32", "f32"}, {".v2.f64", "f64"}};
  for (size_t at = text.find('.'); at != text.npos; at = text.find('.', at + 1))
    for (const auto& [suffix, name] : kSuffixes) {
      const llvm::StringRef rest = text.substr(at);
      const size_t size = llvm::StringRef(suffix).size();
      if (rest.starts_with(suffix) && (rest.size() == size || !llvm::isAlnum(rest[size])))
        types.insert(name);
    }
}

bool isSumOfFloats(llvm::Value* value) {
  Seen seen;
  return isSum(value, seen);
}

} // namespace mneme::compile
