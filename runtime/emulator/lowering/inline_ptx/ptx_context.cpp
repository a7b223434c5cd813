// Registers and operands of one piece of inline PTX (ptx.h).
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kSharedSpace = 3;

const StringMap<PtxHandler>& handlers() {
  static const StringMap<PtxHandler> table = [] {
    StringMap<PtxHandler> made;
    for (auto rules :
         {ptxIntegerRules(), ptxFloatRules(), ptxMemoryRules(), ptxSimdRules(), ptxSyncRules(),
          ptxBarrierObjectRules(), ptxMatrixRules(), ptxTextureRules()})
      for (const PtxRule& rule : rules)
        made.try_emplace(rule.name, rule.handler);
    return made;
  }();
  return table;
}

} // namespace

PtxContext::PtxContext(Emit& emit, CallInst& call, const PtxProgram& program)
    : e(emit), call_(call), declared_(program.registers) {
  auto* assembly = cast<InlineAsm>(call.getCalledOperand());
  if (auto* type = dyn_cast<StructType>(call.getType()))
    outputs_.assign(type->element_begin(), type->element_end());
  else if (!call.getType()->isVoidTy())
    outputs_.push_back(call.getType());
  unsigned operand = unsigned(outputs_.size());
  unsigned index = 0;
  for (const InlineAsm::ConstraintInfo& info : assembly->ParseConstraints()) {
    if (info.Type == InlineAsm::isOutput && info.isIndirect)
      throwUnsupported("inline PTX that writes through a memory operand", *call.getFunction());
    if (info.Type != InlineAsm::isInput)
      continue;
    Value* value = call.getArgOperand(index++);
    // "0" ties the input to output 0, whose register it shares.
    unsigned tied = 0;
    if (!info.Codes.empty() && !StringRef(info.Codes[0]).getAsInteger(10, tied))
      values_["$" + std::to_string(tied)] = value;
    values_["$" + std::to_string(operand++)] = value;
  }
}

Value* PtxContext::coerce(Value* value, Type* type) {
  Type* from = value->getType();
  if (from == type)
    return value;
  if (from->isPointerTy()) {
    if (type->isPointerTy())
      return e.CreateAddrSpaceCast(value, type);
    return coerce(e.CreatePtrToInt(value, e.i(64)), type);
  }
  unsigned fromBits = unsigned(from->getPrimitiveSizeInBits().getFixedValue());
  Value* bits = from->isIntegerTy() ? value : e.CreateBitCast(value, e.i(fromBits));
  if (type->isPointerTy())
    return e.CreateIntToPtr(e.CreateZExtOrTrunc(bits, e.i(64)), type);
  unsigned toBits = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  return e.CreateBitCast(e.CreateZExtOrTrunc(bits, e.i(toBits)), type);
}

Value* PtxContext::immediate(StringRef operand, Type* type) {
  uint64_t bits = 0;
  if (operand.consume_front("0f") || operand.consume_front("0F")) {
    if (operand.getAsInteger(16, bits))
      return nullptr;
    return coerce(e.CreateBitCast(e.getInt32(uint32_t(bits)), e.f32()), type);
  }
  if (operand.consume_front("0d") || operand.consume_front("0D")) {
    if (operand.getAsInteger(16, bits))
      return nullptr;
    return coerce(e.CreateBitCast(e.getInt64(bits), e.f64()), type);
  }
  if (type->isFloatingPointTy() && operand.contains('.')) {
    double number = 0;
    if (operand.getAsDouble(number))
      return nullptr;
    return ConstantFP::get(type, number);
  }
  bool isNegative = operand.consume_front("-");
  if (operand.ends_with("U"))
    operand = operand.drop_back(1);
  if (operand.getAsInteger(0, bits))
    return nullptr;
  unsigned width = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  APInt number = APInt(64, isNegative ? 0 - bits : bits).sextOrTrunc(std::max(width, 1u));
  return coerce(ConstantInt::get(context(), number), type);
}

Value* PtxContext::read(StringRef operand, Type* type) {
  operand = operand.trim();
  if (Value* number = immediate(operand, type))
    return number;
  auto found = values_.find(operand.str());
  if (found != values_.end())
    return coerce(found->second, type);
  if (operand.starts_with("%") || operand.starts_with("WARP_SZ")) {
    if (operand == "WARP_SZ")
      return coerce(e.getInt32(32), type);
    std::string name = operand.drop_front(1).str();
    if (StringRef(name).starts_with("lanemask_"))
      name[8] = '.';
    if (StringRef(name).ends_with("_hi") || StringRef(name).ends_with("_lo"))
      name[name.size() - 3] = '.';
    return coerce(e.specialRegister(name), type);
  }
  if (declared_.count(operand.str()) || operand.starts_with("$"))
    return Constant::getNullValue(type); // read before written: any value will do
  throwUnsupported("the PTX operand '" + operand + "'", *call_.getFunction());
}

Value* PtxContext::read(StringRef operand, const PtxType& type) {
  return read(operand, type.ir(context()));
}

Value* PtxContext::readPredicate(StringRef operand) {
  operand = operand.trim();
  bool isNegated = operand.consume_front("!");
  Value* value = read(operand, e.getInt1Ty());
  return isNegated ? e.CreateNot(value) : value;
}

void PtxContext::write(StringRef operand, Value* value) {
  operand = operand.trim();
  if (operand == "_")
    return;
  auto declared = declared_.find(operand.str());
  unsigned index = 0;
  if (declared != declared_.end())
    value = coerce(value, declared->second.ir(context()));
  else if (operand.starts_with("$") && !operand.drop_front(1).getAsInteger(10, index) &&
           index < outputs_.size())
    value = coerce(value, outputs_[index]);
  else
    throwUnsupported("a PTX write to '" + operand + "'", *call_.getFunction());
  values_[operand.str()] = value;
}

std::vector<std::string> PtxContext::elements(StringRef operand) {
  operand = operand.trim();
  if (!operand.consume_front("{"))
    return {operand.str()};
  operand.consume_back("}");
  std::vector<std::string> names;
  SmallVector<StringRef> pieces;
  operand.split(pieces, ',');
  for (StringRef piece : pieces)
    names.push_back(piece.trim().str());
  return names;
}

Value* PtxContext::address(StringRef operand, bool isShared) {
  operand = operand.trim();
  operand.consume_front("[");
  operand.consume_back("]");
  int64_t offset = 0;
  auto [base, tail] = operand.split('+');
  if (!tail.empty() && tail.trim().getAsInteger(0, offset))
    throwUnsupported("the PTX address '" + operand + "'", *call_.getFunction());
  base = base.trim();
  Value* pointer = nullptr;
  if (isShared) {
    auto found = values_.find(base.str());
    bool isPointer = found != values_.end() && found->second->getType()->isPointerTy();
    Type* space = PointerType::get(context(), kSharedSpace);
    Value* shared = isPointer && found->second->getType() == space
                        ? found->second
                        : e.CreateIntToPtr(read(base, e.i(64)), space);
    pointer = e.CreateAddrSpaceCast(shared, e.getPtrTy());
  } else {
    pointer = read(base, e.getPtrTy());
  }
  return offset ? e.CreateConstGEP1_64(e.getInt8Ty(), pointer, uint64_t(offset)) : pointer;
}

void PtxContext::unsupported(const PtxInstruction& instruction) {
  throwUnsupported("the PTX instruction '" + instruction.text + "'", *call_.getFunction());
}

void PtxContext::translateUnguarded(PtxInstruction& instruction) {
  std::string name = instruction.parts.front();
  if (translateFloat(*this, instruction))
    return;
  auto found = handlers().find(name);
  if (found == handlers().end())
    unsupported(instruction);
  instruction.parts.erase(instruction.parts.begin());
  PtxInstruction original = instruction;
  found->second(*this, instruction);
  if (!instruction.parts.empty())
    unsupported(original);
}

void PtxContext::translate(PtxInstruction& instruction) {
  try {
    translateGuarded(instruction);
  } catch (const std::out_of_range&) {
    unsupported(instruction);
  }
}

void PtxContext::translateGuarded(PtxInstruction& instruction) {
  if (instruction.guard.empty())
    return translateUnguarded(instruction);
  Value* condition = readPredicate(instruction.guard);
  if (instruction.isGuardNegated)
    condition = e.CreateNot(condition);
  std::map<std::string, Value*> before = values_;
  Instruction* position = &*e.GetInsertPoint();
  Instruction* then = SplitBlockAndInsertIfThen(condition, position, false);
  BasicBlock* from = then->getParent()->getSinglePredecessor();
  e.SetInsertPoint(then);
  Value* carryBefore = carry;
  translateUnguarded(instruction);
  if (carry != carryBefore)
    unsupported(instruction);
  BasicBlock* thenEnd = e.GetInsertBlock();
  e.SetInsertPoint(position);
  for (auto& [name, value] : values_) {
    auto old = before.find(name);
    if (old != before.end() && old->second == value)
      continue;
    Value* other = old == before.end() ? Constant::getNullValue(value->getType()) : old->second;
    IRBuilder<>::InsertPointGuard guard(e);
    if (other->getType() != value->getType()) {
      e.SetInsertPoint(from->getTerminator());
      other = coerce(other, value->getType());
    }
    e.SetInsertPoint(&*position->getParent()->begin());
    PHINode* phi = e.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, thenEnd);
    phi->addIncoming(other, from);
    value = phi;
  }
}

Value* PtxContext::result() {
  if (outputs_.empty())
    return nullptr;
  auto output = [&](unsigned index) -> Value* {
    auto found = values_.find("$" + std::to_string(index));
    return found == values_.end() ? Constant::getNullValue(outputs_[index])
                                  : coerce(found->second, outputs_[index]);
  };
  if (!call_.getType()->isStructTy())
    return output(0);
  Value* result = PoisonValue::get(call_.getType());
  for (unsigned index = 0; index < outputs_.size(); ++index)
    result = e.CreateInsertValue(result, output(index), index);
  return result;
}

} // namespace mneme::compile::cpu
