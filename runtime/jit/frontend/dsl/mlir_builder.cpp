// Writes a function of PJ-DSL as MLIR: values and memory.
#include "runtime/jit/frontend/dsl/builder_rules.h"
#include "runtime/jit/frontend/dsl/llvm_words.h"
#include "runtime/jit/frontend/dsl/mlir_builder_state.h"
#include "runtime/jit/frontend/dsl/mlir_module.h"
#include "runtime/jit/frontend/dsl/mlir_words.h"

namespace proteus {
namespace {

constexpr IRType kInt64{IRTypeKind::Int64, false, IRTypeKind::Void, 0, {}};

std::string aligned(const IRType& type) {
  return " {alignment = " + std::to_string(alignmentOf(type)) + " : i64} : ";
}

} // namespace

std::string MLIRCodeBuilder::State::newName(const std::string& hint) {
  return "%" + uniqueName(mlirName(hint));
}

void MLIRCodeBuilder::State::noteChange(const IRValue& slot) {
  for (Scope& scope : scopes)
    scope.isSlotChanged |= scope.slot && scope.slot->Name == slot.Name;
}

MLIRCodeBuilder::MLIRCodeBuilder(MLIRModuleText& Module, IRFunction Function)
    : Data(std::make_unique<State>(Module, std::move(Function))) {
  Data->regions.emplace_back();
  for (const IRType& type : Data->function.ArgTypes)
    Data->arguments.push_back(value(Data->newName("arg"), type));
  Data->builder = this;
  Module.add(this);
}

MLIRCodeBuilder::~MLIRCodeBuilder() = default;

IRFunction& MLIRCodeBuilder::getFunction() { return Data->function; }

IRValue* MLIRCodeBuilder::getArg(std::size_t Index) { return Data->arguments.at(Index); }

IRValue* MLIRCodeBuilder::value(std::string Name, IRType Type) {
  return Data->value(std::move(Name), Type);
}

void MLIRCodeBuilder::emit(const std::string& Instruction) {
  Data->requireOpen();
  Region& region = Data->regions.back();
  if (!region.isClosed)
    region.lines.push_back(Instruction);
}

IRValue* MLIRCodeBuilder::assign(IRType Type, const std::string& Hint,
                                 const std::string& Operation) {
  std::string name = Data->newName(Hint);
  emit(name + " = " + Operation);
  return value(std::move(name), Type);
}

IRValue* MLIRCodeBuilder::createSlot(IRType Type, const std::string& Name) {
  Data->requireOpen();
  const AddressSpace space = Data->module.isHip() ? AddressSpace::LOCAL : AddressSpace::DEFAULT;
  const std::string name = Data->newName(Name);
  const IRType address{IRTypeKind::Pointer, false, Type.Kind, 0, space};
  if (!Type.isPointer() && !Type.isArray()) {
    const std::string inSpace = Data->module.isHip() ? ", 5>" : ">";
    const std::string& type = Data->slotTypes[name] = "memref<" + mlirType(Type) + inSpace;
    Data->slots.push_back(name + " = memref.alloca()" + aligned(Type) + type);
    return value(name, address);
  }
  IRValue* one = getConstantInt(kInt64, 1);
  Data->slots.push_back(name + " = llvm.alloca " + one->Name + " x " + mlirType(Type) +
                        aligned(Type) + "(i64) -> " + mlirPointer(space));
  if (!Type.isArray())
    return value(name, address);
  Type.AddrSpace = space;
  return value(name, Type);
}

IRValue* MLIRCodeBuilder::createArray(IRType Type, const std::string& Name) {
  switch (Type.AddrSpace) {
  case AddressSpace::DEFAULT:
  case AddressSpace::LOCAL:
    return createSlot(Type, Name);
  case AddressSpace::CONSTANT:
    fail("Arrays in the constant address space are not supported");
  default:
    break;
  }
  const std::string name = Data->newName(Name);
  Data->slots.push_back(name + " = llvm.mlir.addressof @" +
                        mlirSymbol(Data->module.addArray(Type, Name)) + " : " +
                        mlirPointer(Type.AddrSpace));
  return value(name, Type);
}

IRValue* MLIRCodeBuilder::createLoad(IRType Type, IRValue* Address, const std::string& Name) {
  const std::string hint = Name.empty() ? "load" : Name;
  if (Data->isSlot(*Address) && Address->Type.ElemKind == Type.Kind)
    return assign(Type, hint,
                  "memref.load " + Address->Name + "[] : " + Data->slotTypes[Address->Name]);
  IRValue* place = Data->isSlot(*Address) ? createGenericAddress(Address) : Address;
  return assign(Type, hint,
                "llvm.load " + place->Name + aligned(Type) + mlirPointer(place->Type.AddrSpace) +
                    " -> " + mlirType(Type));
}

void MLIRCodeBuilder::createStore(IRValue* Value, IRValue* Address) {
  if (Data->isSlot(*Address) && Address->Type.ElemKind == Value->Type.Kind) {
    Data->noteChange(*Address);
    emit("memref.store " + Value->Name + ", " + Address->Name +
         "[] : " + Data->slotTypes[Address->Name]);
    return;
  }
  IRValue* place = Data->isSlot(*Address) ? createGenericAddress(Address) : Address;
  emit("llvm.store " + Value->Name + ", " + place->Name + aligned(Value->Type) +
       mlirType(Value->Type) + ", " + mlirPointer(place->Type.AddrSpace));
}

IRValue* MLIRCodeBuilder::createElementAddress(IRType Element, IRValue* Base, IRValue* Index) {
  const bool isArray = Base->Type.isArray();
  IRValue* base = isArray ? Base : createGenericAddress(Base);
  const std::string pointer = mlirPointer(base->Type.AddrSpace);
  const IRType type{IRTypeKind::Pointer, false, Element.Kind, 0, base->Type.AddrSpace};
  return createGenericAddress(
      assign(type, "elt",
             "llvm.getelementptr inbounds " + base->Name + (isArray ? "[0, " : "[") + Index->Name +
                 "] : (" + pointer + ", " + mlirType(Index->Type) + ") -> " + pointer + ", " +
                 mlirType(isArray ? Base->Type : Element)));
}

IRValue* MLIRCodeBuilder::createGenericAddress(IRValue* Address) {
  const IRType& from = Address->Type;
  const IRType type{IRTypeKind::Pointer, false, from.ElemKind, 0, AddressSpace::DEFAULT};
  if (Data->isSlot(*Address)) {
    Data->takenAddresses.insert(Address->Name);
    std::string slot = Address->Name;
    std::string slotType = Data->slotTypes[slot];
    if (Data->module.isHip()) {
      const std::string generic = "memref<" + mlirType({from.ElemKind, false, {}, 0, {}}) + ">";
      slot = assign(from, "slot",
                    "memref.memory_space_cast " + slot + " : " + slotType + " to " + generic)
                 ->Name;
      slotType = generic;
    }
    IRValue* index =
        assign(kInt64, "index",
               "memref.extract_aligned_pointer_as_index " + slot + " : " + slotType + " -> index");
    IRValue* number =
        assign(kInt64, "number", "arith.index_cast " + index->Name + " : index to i64");
    return assign(type, "address", "llvm.inttoptr " + number->Name + " : i64 to !llvm.ptr");
  }
  if (from.AddrSpace == AddressSpace::DEFAULT)
    return value(Address->Name, type);
  return assign(type, "generic",
                "llvm.addrspacecast " + Address->Name + " : " + mlirPointer(from.AddrSpace) +
                    " to !llvm.ptr");
}

/// Once, where every region sees it.
IRValue* MLIRCodeBuilder::constant(IRType Type, const std::string& Literal) {
  const std::string definition =
      "arith.constant " + Literal + (Type.Kind == IRTypeKind::Int1 ? "" : " : " + mlirType(Type));
  IRValue*& known = Data->knownConstants[definition];
  if (!known) {
    known = value(Data->newName("cst"), Type);
    Data->constants.push_back(known->Name + " = " + definition);
  }
  return value(known->Name, Type);
}

IRValue* MLIRCodeBuilder::getConstantInt(IRType Type, uint64_t Value) {
  return constant(Type, integerConstant(Type, Value));
}

IRValue* MLIRCodeBuilder::getConstantFP(IRType Type, double Value) {
  return constant(Type, mlirFloat(Type, Value));
}

IRValue* MLIRCodeBuilder::createArith(ArithOp Op, IRValue* L, IRValue* R) {
  static const char* const kFloating[] = {"addf", "subf", "mulf", "divf", "remf"};
  static const char* const kSigned[] = {"addi", "subi", "muli", "divsi", "remsi"};
  static const char* const kUnsigned[] = {"addi", "subi", "muli", "divui", "remui"};
  const IRType& type = L->Type;
  const auto index = static_cast<unsigned>(Op);
  const bool isFloating = type.isFloatingPoint();
  const char* const* names = isFloating ? kFloating : type.Signed ? kSigned : kUnsigned;
  return assign(type, "arith",
                std::string("arith.") + names[index] + " " + L->Name + ", " + R->Name +
                    (isFloating ? " fastmath<contract> : " : " : ") + mlirType(type));
}

IRValue* MLIRCodeBuilder::createCmp(CmpOp Op, IRValue* L, IRValue* R) {
  const IRType& type = L->Type;
  return assign({IRTypeKind::Int1, false, IRTypeKind::Void, 0, {}}, "cmp",
                std::string(type.isFloatingPoint() ? "arith.cmpf " : "arith.cmpi ") +
                    predicate(Op, type) + ", " + L->Name + ", " + R->Name + " : " + mlirType(type));
}

IRValue* MLIRCodeBuilder::createNeg(IRValue* Value) {
  if (Value->Type.isFloatingPoint())
    return assign(Value->Type, "minus",
                  "arith.negf " + Value->Name + " fastmath<contract> : " + mlirType(Value->Type));
  return createArith(ArithOp::Sub, getConstantInt(Value->Type, 0), Value);
}

IRValue* MLIRCodeBuilder::createSelect(IRValue* Condition, IRValue* IfTrue, IRValue* IfFalse) {
  return assign(IfTrue->Type, "select",
                "arith.select " + Condition->Name + ", " + IfTrue->Name + ", " + IfFalse->Name +
                    " : " + mlirType(IfTrue->Type));
}

IRValue* MLIRCodeBuilder::convert(const char* Operation, IRValue* Value, IRType To) {
  return assign(To, "conv",
                std::string(Operation) + " " + Value->Name + " : " + mlirType(Value->Type) +
                    " to " + mlirType(To));
}

IRValue* MLIRCodeBuilder::createCast(IRValue* Value, IRType To) {
  static const char* const kWords[] = {"arith.extf",   "arith.truncf", "arith.fptosi",
                                       "arith.fptoui", "arith.sitofp", "arith.uitofp",
                                       "arith.trunci", "arith.extsi",  "arith.extui"};
  return castAs(*this, *Data, Value, To, mlirType, [&](Conversion how) {
    return convert(kWords[static_cast<unsigned>(how)], Value, To);
  });
}

IRValue* MLIRCodeBuilder::createBitCast(IRValue* Value, IRType To) {
  const IRType from = Value->Type;
  if (from.isPointer() && To.isPointer()) {
    IRValue* place = createGenericAddress(Value);
    return To.AddrSpace == AddressSpace::DEFAULT ? value(place->Name, To)
                                                 : convert("llvm.addrspacecast", place, To);
  }
  requireEqualBits(*this, from, To, mlirType);
  return from.Kind == To.Kind ? value(Value->Name, To) : convert("arith.bitcast", Value, To);
}

IRValue* MLIRCodeBuilder::createZExt(IRValue* Value, IRType To) {
  const IRType from = Value->Type;
  requireExtension(*this, from, To, mlirType);
  return from.Kind == To.Kind ? value(Value->Name, To) : convert("arith.extui", Value, To);
}

} // namespace proteus
