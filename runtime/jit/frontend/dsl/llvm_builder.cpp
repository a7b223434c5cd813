// Writes a function of PJ-DSL as LLVM IR: values and memory.
#include "runtime/jit/frontend/dsl/builder_rules.h"
#include "runtime/jit/frontend/dsl/llvm_builder_state.h"
#include "runtime/jit/frontend/dsl/llvm_module.h"
#include "runtime/jit/frontend/dsl/llvm_words.h"

#include "include/proteus/Frontend/LLVMTypeMap.h"

namespace proteus {

std::string LLVMCodeBuilder::State::newName(const std::string& hint) {
  return quotedName(uniqueName(hint));
}

LLVMCodeBuilder::LLVMCodeBuilder(LLVMModuleText& Module, IRFunction Function)
    : Data(std::make_unique<State>(Module, std::move(Function))) {
  Block* entry = Data->newBlock("entry");
  entry->isReached = true;
  Data->place(entry);
  for (const IRType& type : Data->function.ArgTypes)
    Data->arguments.push_back(value("%" + Data->newName("arg"), type));
  Data->builder = this;
  Module.add(this);
}

LLVMCodeBuilder::~LLVMCodeBuilder() = default;

IRFunction& LLVMCodeBuilder::getFunction() { return Data->function; }

IRValue* LLVMCodeBuilder::getArg(std::size_t Index) { return Data->arguments.at(Index); }

IRValue* LLVMCodeBuilder::value(std::string Name, IRType Type) {
  return Data->value(std::move(Name), Type);
}

void LLVMCodeBuilder::emit(const std::string& Instruction) {
  Data->requireOpen();
  Data->open().lines.push_back(Instruction);
}

IRValue* LLVMCodeBuilder::assign(IRType Type, const std::string& Hint,
                                 const std::string& Operation) {
  std::string name = "%" + Data->newName(Hint);
  emit(name + " = " + Operation);
  return value(std::move(name), Type);
}

IRValue* LLVMCodeBuilder::createSlot(IRType Type, const std::string& Name) {
  Data->requireOpen();
  const bool isHip = Data->module.isHip();
  std::string name = "%" + Data->newName(Name);
  Data->slots.push_back(name + " = alloca " + toLLVMType(Type) + ", align " +
                        std::to_string(alignmentOf(Type)) + (isHip ? ", addrspace(5)" : ""));
  const AddressSpace space = isHip ? AddressSpace::LOCAL : AddressSpace::DEFAULT;
  if (Type.isArray()) {
    Type.AddrSpace = space;
    return value(std::move(name), Type);
  }
  return value(std::move(name), {IRTypeKind::Pointer, false, Type.Kind, 0, space});
}

IRValue* LLVMCodeBuilder::createArray(IRType Type, const std::string& Name) {
  switch (Type.AddrSpace) {
  case AddressSpace::DEFAULT:
  case AddressSpace::LOCAL:
    return createSlot(Type, Name);
  case AddressSpace::CONSTANT:
    fail("Arrays in the constant address space are not supported");
  default:
    return value("@" + quotedName(Data->module.addArray(Type, Name)), Type);
  }
}

IRValue* LLVMCodeBuilder::createLoad(IRType Type, IRValue* Address, const std::string& Name) {
  return assign(Type, Name.empty() ? "load" : Name,
                "load " + toLLVMType(Type) + ", " + operand(*Address) + ", align " +
                    std::to_string(alignmentOf(Type)));
}

void LLVMCodeBuilder::createStore(IRValue* Value, IRValue* Address) {
  emit("store " + operand(*Value) + ", " + operand(*Address) + ", align " +
       std::to_string(alignmentOf(Value->Type)));
}

IRValue* LLVMCodeBuilder::createElementAddress(IRType Element, IRValue* Base, IRValue* Index) {
  const bool isArray = Base->Type.isArray();
  const std::string from = toLLVMType(isArray ? Base->Type : Element);
  const IRType type{IRTypeKind::Pointer, false, Element.Kind, 0, Base->Type.AddrSpace};
  return createGenericAddress(assign(type, "elt",
                                     "getelementptr inbounds " + from + ", " + operand(*Base) +
                                         (isArray ? ", i64 0, " : ", ") + operand(*Index)));
}

IRValue* LLVMCodeBuilder::createGenericAddress(IRValue* Address) {
  const IRType& from = Address->Type;
  const IRTypeKind element = from.ElemKind;
  const IRType type{IRTypeKind::Pointer, false, element, 0, AddressSpace::DEFAULT};
  if (from.AddrSpace == AddressSpace::DEFAULT)
    return value(Address->Name, type);
  return assign(type, "generic", "addrspacecast " + operand(*Address) + " to ptr");
}

IRValue* LLVMCodeBuilder::getConstantInt(IRType Type, uint64_t Value) {
  return value(integerConstant(Type, Value), Type);
}

IRValue* LLVMCodeBuilder::getConstantFP(IRType Type, double Value) {
  return value(floatingConstant(Value), Type);
}

/// As clang writes it: loops over arrays are vectorised by it. What is smaller than int is computed
/// as int in C++, and wraps.
static const char* overflowFlag(const IRType& type) {
  return type.Signed && type.getBits() >= 32 ? " nsw" : "";
}

IRValue* LLVMCodeBuilder::createArith(ArithOp Op, IRValue* L, IRValue* R) {
  static const char* const kFloating[] = {"fadd", "fsub", "fmul", "fdiv", "frem"};
  static const char* const kSigned[] = {"add", "sub", "mul", "sdiv", "srem"};
  static const char* const kUnsigned[] = {"add", "sub", "mul", "udiv", "urem"};
  const IRType& type = L->Type;
  const auto index = static_cast<unsigned>(Op);
  std::string operation = type.isFloatingPoint() ? std::string(kFloating[index]) + " contract"
                                                 : (type.Signed ? kSigned : kUnsigned)[index];
  if (Op != ArithOp::Div && Op != ArithOp::Rem)
    operation += overflowFlag(type);
  return assign(type, "arith", operation + " " + operand(*L) + ", " + R->Name);
}

IRValue* LLVMCodeBuilder::createCmp(CmpOp Op, IRValue* L, IRValue* R) {
  const IRType& type = L->Type;
  const std::string operation =
      (type.isFloatingPoint() ? "fcmp contract " : "icmp ") + std::string(predicate(Op, type));
  return assign({IRTypeKind::Int1, false, IRTypeKind::Void, 0, {}}, "cmp",
                operation + " " + operand(*L) + ", " + R->Name);
}

IRValue* LLVMCodeBuilder::createNeg(IRValue* Value) {
  if (Value->Type.isFloatingPoint())
    return assign(Value->Type, "minus", "fneg contract " + operand(*Value));
  return assign(Value->Type, "minus",
                std::string("sub") + overflowFlag(Value->Type) + " " + toLLVMType(Value->Type) +
                    " 0, " + Value->Name);
}

IRValue* LLVMCodeBuilder::createSelect(IRValue* Condition, IRValue* IfTrue, IRValue* IfFalse) {
  return assign(IfTrue->Type, "select",
                "select " + operand(*Condition) + ", " + operand(*IfTrue) + ", " +
                    operand(*IfFalse));
}

IRValue* LLVMCodeBuilder::convert(const char* Operation, IRValue* Value, IRType To) {
  return assign(To, "conv",
                std::string(Operation) + " " + operand(*Value) + " to " + toLLVMType(To));
}

IRValue* LLVMCodeBuilder::createCast(IRValue* Value, IRType To) {
  static const char* const kWords[] = {"fpext",  "fptrunc", "fptosi", "fptoui", "sitofp",
                                       "uitofp", "trunc",   "sext",   "zext"};
  return castAs(*this, *Data, Value, To, toLLVMType, [&](Conversion how) {
    return convert(kWords[static_cast<unsigned>(how)], Value, To);
  });
}

IRValue* LLVMCodeBuilder::createBitCast(IRValue* Value, IRType To) {
  const IRType from = Value->Type;
  if (from.isPointer() && To.isPointer())
    return from.AddrSpace == To.AddrSpace ? value(Value->Name, To)
                                          : convert("addrspacecast", Value, To);
  requireEqualBits(*this, from, To, toLLVMType);
  return from.Kind == To.Kind ? value(Value->Name, To) : convert("bitcast", Value, To);
}

IRValue* LLVMCodeBuilder::createZExt(IRValue* Value, IRType To) {
  const IRType from = Value->Type;
  requireExtension(*this, from, To, toLLVMType);
  return from.Kind == To.Kind ? value(Value->Name, To) : convert("zext", Value, To);
}

} // namespace proteus
