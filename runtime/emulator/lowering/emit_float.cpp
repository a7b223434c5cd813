// Arithmetic on floating-point numbers (emit.h), with the rounding that the instruction asks
// for.
#include "runtime/emulator/lowering/emit.h"

#include <llvm/ADT/StringSwitch.h>

#include "runtime/compiler/ir/compat.h"
#include "runtime/core/base/error.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

const char* suffix(Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return "rz";
  case Rounding::Down:
    return "rm";
  case Rounding::Up:
    return "rp";
  case Rounding::Nearest:
    break;
  }
  return "rn";
}

/// Operand of llvm.set.rounding.
int roundingMode(Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return 0;
  case Rounding::Up:
    return 2;
  case Rounding::Down:
    return 3;
  case Rounding::Nearest:
    break;
  }
  return 1;
}

Intrinsic::ID constrainedOperation(StringRef operation) {
  return StringSwitch<Intrinsic::ID>(operation)
      .Case("fadd", Intrinsic::experimental_constrained_fadd)
      .Case("fsub", Intrinsic::experimental_constrained_fsub)
      .Case("fmul", Intrinsic::experimental_constrained_fmul)
      .Case("fdiv", Intrinsic::experimental_constrained_fdiv)
      .Case("fma", Intrinsic::experimental_constrained_fma)
      .Case("sqrt", Intrinsic::experimental_constrained_sqrt)
      .Case("fptrunc", Intrinsic::experimental_constrained_fptrunc)
      .Case("sitofp", Intrinsic::experimental_constrained_sitofp)
      .Case("uitofp", Intrinsic::experimental_constrained_uitofp)
      .Default(Intrinsic::not_intrinsic);
}

/// Body of a helper that switches the rounding mode around one operation. It is never inlined:
/// only code compiled as strictfp may run under another mode.
void defineRounded(Function& function, StringRef operation, Rounding rounding) {
  function.setLinkage(GlobalValue::InternalLinkage);
  for (auto kind :
       {Attribute::StrictFP, Attribute::NoInline, Attribute::NoUnwind, Attribute::WillReturn})
    function.addFnAttr(kind);
  function.setMemoryEffects(MemoryEffects::none());
  IRBuilder<> builder(BasicBlock::Create(function.getContext(), "entry", &function));
  builder.setIsFPConstrained(true);
  builder.setDefaultConstrainedExcept(fp::ebStrict);
  builder.setDefaultConstrainedRounding(RoundingMode::Dynamic);
  SmallVector<Value*> operands(make_pointer_range(function.args()));
  builder.CreateIntrinsic(builder.getVoidTy(), Intrinsic::set_rounding,
                          {builder.getInt32(roundingMode(rounding))});
  Intrinsic::ID id = constrainedOperation(operation);
  Value* result = nullptr;
  if (operation == "fptrunc" || operation == "sitofp" || operation == "uitofp")
    result = builder.CreateConstrainedFPCast(id, operands[0], function.getReturnType());
  else {
    LLVMContext& context = function.getContext();
    operands.push_back(MetadataAsValue::get(context, MDString::get(context, "round.dynamic")));
    operands.push_back(MetadataAsValue::get(context, MDString::get(context, "fpexcept.strict")));
    result = builder.CreateIntrinsic(id, {function.getReturnType()}, operands);
  }
  builder.CreateIntrinsic(builder.getVoidTy(), Intrinsic::set_rounding, {builder.getInt32(1)});
  builder.CreateRet(result);
  for (Instruction& instruction : function.front())
    if (auto* call = dyn_cast<CallInst>(&instruction))
      call->addFnAttr(Attribute::StrictFP);
}

std::string typeName(Type* type) {
  std::string name;
  raw_string_ostream stream(name);
  type->print(stream);
  return name;
}

/// `element`, as a vector where `shape` is one.
Type* shaped(Type* shape, Type* element) {
  if (auto* vector = dyn_cast<VectorType>(shape))
    return VectorType::get(element, vector->getElementCount());
  return element;
}

bool isNarrow(Type* type) {
  return type->getScalarType()->isHalfTy() || type->getScalarType()->isBFloatTy();
}

} // namespace

Value* Emit::roundedCall(StringRef operation, Type* result, ArrayRef<Value*> operands,
                         Rounding rounding) {
  std::string name = ("mneme." + operation + "." + suffix(rounding) + "." + typeName(result) + "." +
                      typeName(operands[0]->getType()))
                         .str();
  SmallVector<Type*> types;
  for (Value* operand : operands)
    types.push_back(operand->getType());
  FunctionCallee callee =
      module_.getOrInsertFunction(name, FunctionType::get(result, types, false));
  auto* function = cast<Function>(callee.getCallee());
  if (function->isDeclaration())
    defineRounded(*function, operation, rounding);
  return CreateCall(callee, operands);
}

Value* Emit::widen(Value* value) { return toFloat(value, shaped(value->getType(), f64())); }

/// Rounding to float and then to half equals rounding once: 24 bits are twice 11 plus two.
Value* Emit::halfArithmetic(StringRef operation, ArrayRef<Value*> operands) {
  Type* type = operands[0]->getType();
  Type* single = shaped(type, f32());
  SmallVector<Value*> wide;
  for (Value* operand : operands)
    wide.push_back(CreateFPExt(operand, single));
  if (operation != "fma")
    return CreateFPTrunc(arithmetic(operation, wide), type);
  // A float holds the product, a double the sum: half's range is that small. Where it does not,
  // the product is so much smaller than the third operand that this is the result.
  Type* bitsType = shaped(type, i(64));
  Value* product = CreateFPExt(CreateFMul(wide[0], wide[1]), shaped(type, f64()));
  Value* sum = CreateFAdd(product, CreateFPExt(wide[2], product->getType()));
  // To odd at the last place of a float, which every such sum is within the range of.
  constexpr uint64_t kBelow = (uint64_t{1} << 29) - 1;
  Value* bits = CreateBitCast(sum, bitsType);
  Value* rest = CreateAnd(bits, ConstantInt::get(bitsType, kBelow));
  Value* carried = CreateAdd(rest, ConstantInt::get(bitsType, kBelow));
  bits = CreateAnd(CreateOr(bits, carried), ConstantInt::get(bitsType, ~kBelow));
  return CreateFPTrunc(CreateFPTrunc(CreateBitCast(bits, product->getType()), single), type);
}

Value* Emit::arithmetic(StringRef operation, ArrayRef<Value*> operands, Rounding rounding) {
  Type* type = operands[0]->getType();
  if (type->getScalarType()->isHalfTy() && rounding == Rounding::Nearest)
    return halfArithmetic(operation, operands);
  if (isNarrow(type)) {
    // 53 bits are more than twice 11 (or 8) plus two, so rounding twice equals rounding once;
    // the sum of a fused multiply-add is rounded to odd for the same reason.
    SmallVector<Value*> wide;
    for (Value* operand : operands)
      wide.push_back(widen(operand));
    Value* result = nullptr;
    if (operation == "fma") {
      Value* product = CreateFMul(wide[0], wide[1]);
      Value* sum = CreateFAdd(product, wide[2]);
      Value* high = CreateFSub(sum, product);
      Value* error =
          CreateFAdd(CreateFSub(product, CreateFSub(sum, high)), CreateFSub(wide[2], high));
      Type* bitsType = shaped(type, i(64));
      Value* bits = CreateBitCast(sum, bitsType);
      Value* zero = ConstantFP::getZero(sum->getType());
      Value* isInexact = CreateFCmpONE(error, zero);
      Value* sumIsAbove = CreateFCmpOLT(CreateFMul(error, sum), zero);
      Value* truncated = CreateSub(bits, CreateZExt(CreateAnd(isInexact, sumIsAbove), bitsType));
      Value* odd = CreateOr(truncated, CreateZExt(isInexact, bitsType));
      result = CreateBitCast(odd, sum->getType());
    } else {
      result = arithmetic(operation, wide);
    }
    return toFloat(result, type, rounding);
  }
  if (rounding != Rounding::Nearest)
    return roundedCall(operation, type, operands, rounding);
  if (operation == "fadd")
    return CreateFAdd(operands[0], operands[1]);
  if (operation == "fsub")
    return CreateFSub(operands[0], operands[1]);
  if (operation == "fmul")
    return CreateFMul(operands[0], operands[1]);
  if (operation == "fdiv")
    return CreateFDiv(operands[0], operands[1]);
  if (operation == "fma")
    return CreateIntrinsic(Intrinsic::fma, {type}, operands);
  if (operation == "sqrt")
    return CreateUnaryIntrinsic(Intrinsic::sqrt, operands[0]);
  throw Error(ErrorCode::Internal, "unknown floating-point operation '" + operation.str() + "'");
}

Value* Emit::flush(Value* value) {
  Type* type = value->getType();
  const fltSemantics& semantics = type->getScalarType()->getFltSemantics();
  Value* smallest = ConstantFP::get(type, APFloat::getSmallestNormalized(semantics));
  Value* magnitude = CreateUnaryIntrinsic(Intrinsic::fabs, value);
  Value* zero = CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::getZero(type), value);
  return CreateSelect(CreateFCmpOLT(magnitude, smallest), zero, value);
}

Value* Emit::saturate(Value* value) {
  Type* type = value->getType();
  Value* zero = ConstantFP::getZero(type);
  Value* one = ConstantFP::get(type, 1.0);
  Value* low = CreateSelect(CreateFCmpOGT(value, zero), value, zero);
  return CreateSelect(CreateFCmpOLT(low, one), low, one);
}

Value* Emit::minMax(bool isMax, Value* a, Value* b, bool nan) {
  Type* type = a->getType();
  if (isNarrow(type))
    return toFloat(minMax(isMax, widen(a), widen(b), nan), type);
  if (!nan)
    return compat::minMaxNumber(*this, isMax, a, b);
  return CreateBinaryIntrinsic(isMax ? Intrinsic::maximum : Intrinsic::minimum, a, b);
}

} // namespace mneme::compile::cpu
