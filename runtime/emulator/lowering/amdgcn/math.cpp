// AMD's device math (`__ocml_*`) on the host: functions libm has too, and functions that are one
// operation. Whatever is not listed keeps the body the device library gives it.
#include <llvm/ADT/StringSwitch.h>

#include "runtime/emulator/lowering/amdgcn/amdgcn.h"
#include "runtime/emulator/lowering/function_body.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// `__ocml_<name>_f32` and `_f64` with the parameters of libm's `<name>f` and `<name>`.
constexpr const char* kLibmNames[] = {
    "acos",  "acosh", "asin",  "asinh",  "atan",      "atan2", "atanh",     "cbrt",   "cos",
    "cosh",  "erf",   "erfc",  "exp",    "exp10",     "exp2",  "expm1",     "fdim",   "fmod",
    "frexp", "hypot", "ilogb", "j0",     "j1",        "ldexp", "lgamma",    "log",    "log10",
    "log1p", "log2",  "logb",  "modf",   "nextafter", "pow",   "remainder", "remquo", "sin",
    "sinh",  "tan",   "tanh",  "tgamma", "y0",        "y1"};

struct Renamed {
  const char* device;
  const char* host;
};
constexpr Renamed kLibmRenamed[] = {
    {"native_sin", "sin"},    {"native_cos", "cos"},     {"native_exp", "exp"},
    {"native_exp2", "exp2"},  {"native_exp10", "exp10"}, {"native_log", "log"},
    {"native_log2", "log2"},  {"native_log10", "log10"}, {"powr", "pow"},
    {"lgamma_r", "lgamma_r"},
};

Intrinsic::ID intrinsicOf(StringRef name) {
  return StringSwitch<Intrinsic::ID>(name)
      .Case("fabs", Intrinsic::fabs)
      .Case("floor", Intrinsic::floor)
      .Case("ceil", Intrinsic::ceil)
      .Case("trunc", Intrinsic::trunc)
      .Case("rint", Intrinsic::roundeven)
      .Case("nearbyint", Intrinsic::roundeven)
      .Case("round", Intrinsic::round)
      .Case("sqrt", Intrinsic::sqrt)
      .Case("native_sqrt", Intrinsic::sqrt)
      .Case("copysign", Intrinsic::copysign)
      .Case("fma", Intrinsic::fma)
      .Default(Intrinsic::not_intrinsic);
}

/// Those of more than one parameter, with the kind of rounding taken off.
constexpr const char* kOfTwo[] = {"add",       "atan2",  "copysign",  "div",   "fdim",  "fmax",
                                  "fmin",      "fmod",   "frexp",     "hypot", "ldexp", "lgamma_r",
                                  "modf",      "mul",    "nextafter", "pow",   "pown",  "powr",
                                  "remainder", "sincos", "sub"};
constexpr const char* kOfThree[] = {"fma", "remquo"};

unsigned parametersOf(StringRef name) {
  for (StringRef known : {name, name.rsplit('_').first})
    if (is_contained(kOfTwo, known) || is_contained(kOfThree, known))
      return is_contained(kOfTwo, known) ? 2 : 3;
  return 1;
}

/// Operands as host functions take them: pointers to local memory are plain ones.
SmallVector<Value*> plainArguments(Emit& e, Function& function) {
  SmallVector<Value*> values;
  for (Argument& value : function.args())
    values.push_back(value.getType()->isPointerTy() ? e.CreateAddrSpaceCast(&value, e.getPtrTy())
                                                    : static_cast<Value*>(&value));
  return values;
}

/// `add_rte` and the like: one operation, rounded as the name says.
Value* roundedOperation(Emit& e, Function& f, StringRef name) {
  auto [operation, mode] = name.rsplit('_');
  StringRef host = StringSwitch<StringRef>(operation)
                       .Case("add", "fadd")
                       .Case("sub", "fsub")
                       .Case("mul", "fmul")
                       .Case("div", "fdiv")
                       .Case("fma", "fma")
                       .Case("sqrt", "sqrt")
                       .Default("");
  int rounding = StringSwitch<int>(mode)
                     .Case("rte", int(Rounding::Nearest))
                     .Case("rtz", int(Rounding::Zero))
                     .Case("rtn", int(Rounding::Down))
                     .Case("rtp", int(Rounding::Up))
                     .Default(-1);
  if (host.empty() || rounding < 0)
    return nullptr;
  return e.arithmetic(host, argumentsOf(f), Rounding(rounding));
}

Value* otherOperation(Emit& e, Function& f, StringRef name, const std::string& suffix) {
  Type* type = f.getReturnType();
  Value* x = f.getArg(0);
  if (name == "fmin" || name == "fmax")
    return e.minMax(name == "fmax", x, f.getArg(1));
  if (name == "rsqrt" || name == "native_rsqrt")
    return e.CreateFDiv(ConstantFP::get(type, 1.0), e.CreateUnaryIntrinsic(Intrinsic::sqrt, x));
  if (name == "native_recip")
    return e.CreateFDiv(ConstantFP::get(type, 1.0), x);
  if (name == "pown") { // in double precision, which holds every exponent
    Value* exponent = e.CreateSIToFP(f.getArg(1), e.getDoubleTy());
    Value* power = e.libm("pow", e.getDoubleTy(), {e.CreateFPCast(x, e.getDoubleTy()), exponent});
    return e.CreateFPCast(power, type);
  }
  if (name == "sincos") {
    e.CreateStore(e.libm("cos" + suffix, type, {x}), f.getArg(1));
    return e.libm("sin" + suffix, type, {x});
  }
  return roundedOperation(e, f, name);
}

/// The function's result computed on the host; null if it keeps its body.
Value* hostMath(Emit& e, Function& f, StringRef name, const std::string& suffix) {
  Type* type = f.getReturnType();
  std::string host;
  if (is_contained(kLibmNames, name))
    host = name.str();
  for (const Renamed& rule : kLibmRenamed)
    if (name == rule.device)
      host = rule.host;
  if (host == "lgamma_r")
    return e.libm("lgamma" + suffix + "_r", type, plainArguments(e, f));
  if (!host.empty())
    return e.libm(host + suffix, type, plainArguments(e, f));
  if (Intrinsic::ID id = intrinsicOf(name); id != Intrinsic::not_intrinsic)
    return e.CreateIntrinsic(id, {type}, argumentsOf(f));
  return otherOperation(e, f, name, suffix);
}

} // namespace

void replaceAmdgcnMath(Module& module) {
  for (Function& function : module) {
    StringRef name = libraryName(function);
    if (!name.consume_front("__ocml_"))
      continue;
    bool isSingle = name.consume_back("_f32");
    if (!isSingle && !name.consume_back("_f64"))
      continue;
    // An optimizer may have taken parameters out: the body is that of one use then, and stays.
    if (function.arg_size() != parametersOf(name))
      continue;
    // Built first beside the old body: a function that is not known keeps it.
    BasicBlock* old = function.empty() ? nullptr : &function.getEntryBlock();
    BasicBlock* made = BasicBlock::Create(module.getContext(), "host", &function, old);
    ReturnInst* place = ReturnInst::Create(module.getContext(), nullptr, made);
    Emit emit(*place);
    Value* result = hostMath(emit, function, name, isSingle ? "f" : "");
    if (!result) {
      made->eraseFromParent();
      continue;
    }
    finishBody(place, result);
    dropOtherBlocks(function, *made);
  }
}

} // namespace mneme::compile::cpu
