// libdevice on the host: functions libm has too, and functions that are one IR operation. Whatever
// is not listed keeps the body libdevice gives it.
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/function_body.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// `__nv_<name>` and `__nv_<name>f` with the parameters of libm's `<name>` and `<name>f`.
constexpr const char* kLibmPairs[] = {
    "sin",    "cos",   "tan",    "asin",      "acos",      "atan",  "sinh",  "cosh",
    "tanh",   "asinh", "acosh",  "atanh",     "exp",       "exp2",  "exp10", "expm1",
    "log",    "log2",  "log10",  "log1p",     "cbrt",      "erf",   "erfc",  "tgamma",
    "lgamma", "j0",    "j1",     "y0",        "y1",        "jn",    "yn",    "logb",
    "ilogb",  "pow",   "atan2",  "fmod",      "hypot",     "fdim",  "ldexp", "scalbn",
    "frexp",  "modf",  "remquo", "remainder", "nextafter", "sincos"};

struct Renamed {
  const char* device;
  const char* host;
};
constexpr Renamed kLibmRenamed[] = {
    {"__nv_fast_sinf", "sinf"},   {"__nv_fast_cosf", "cosf"},       {"__nv_fast_tanf", "tanf"},
    {"__nv_fast_logf", "logf"},   {"__nv_fast_log2f", "log2f"},     {"__nv_fast_log10f", "log10f"},
    {"__nv_fast_expf", "expf"},   {"__nv_fast_exp10f", "exp10f"},   {"__nv_fast_powf", "powf"},
    {"__nv_fast_tanhf", "tanhf"}, {"__nv_fast_sincosf", "sincosf"},
};

struct IntrinsicRule {
  const char* device;
  Intrinsic::ID intrinsic;
};
constexpr IntrinsicRule kIntrinsics[] = {
    {"__nv_fabs", Intrinsic::fabs},
    {"__nv_fabsf", Intrinsic::fabs},
    {"__nv_floor", Intrinsic::floor},
    {"__nv_floorf", Intrinsic::floor},
    {"__nv_ceil", Intrinsic::ceil},
    {"__nv_ceilf", Intrinsic::ceil},
    {"__nv_trunc", Intrinsic::trunc},
    {"__nv_truncf", Intrinsic::trunc},
    {"__nv_rint", Intrinsic::roundeven},
    {"__nv_rintf", Intrinsic::roundeven},
    {"__nv_nearbyint", Intrinsic::roundeven},
    {"__nv_nearbyintf", Intrinsic::roundeven},
    {"__nv_round", Intrinsic::round},
    {"__nv_roundf", Intrinsic::round},
    {"__nv_sqrt", Intrinsic::sqrt},
    {"__nv_sqrtf", Intrinsic::sqrt},
    {"__nv_dsqrt_rn", Intrinsic::sqrt},
    {"__nv_fsqrt_rn", Intrinsic::sqrt},
    {"__nv_copysign", Intrinsic::copysign},
    {"__nv_copysignf", Intrinsic::copysign},
    {"__nv_fma", Intrinsic::fma},
    {"__nv_fmaf", Intrinsic::fma},
    {"__nv_fma_rn", Intrinsic::fma},
    {"__nv_fmaf_rn", Intrinsic::fma},
    {"__nv_fmaf_ieee_rn", Intrinsic::fma},
};

using Body = Value* (*)(Emit&, Function&);

Value* argument(Function& function, unsigned index) { return function.getArg(index); }

Value* powerOfInteger(Emit& e, Function& f) {
  Type* type = f.getReturnType();
  Value* exponent = e.CreateSIToFP(argument(f, 1), type);
  return e.libm(type->isFloatTy() ? "powf" : "pow", type, {argument(f, 0), exponent});
}
Value* roundToLong(Emit& e, Function& f) {
  Value* rounded = e.CreateUnaryIntrinsic(Intrinsic::round, argument(f, 0));
  return e.toInteger(rounded, f.getReturnType(), true, Rounding::Zero);
}
Value* rintToLong(Emit& e, Function& f) {
  return e.toInteger(argument(f, 0), f.getReturnType(), true, Rounding::Nearest);
}
Value* minimum(Emit& e, Function& f) { return e.minMax(false, argument(f, 0), argument(f, 1)); }
Value* maximum(Emit& e, Function& f) { return e.minMax(true, argument(f, 0), argument(f, 1)); }
Value* divide(Emit& e, Function& f) { return e.CreateFDiv(argument(f, 0), argument(f, 1)); }
Value* halfToFloat(Emit& e, Function& f) {
  return e.toFloat(e.CreateBitCast(argument(f, 0), e.getHalfTy()), e.f32());
}

struct BodyRule {
  const char* device;
  Body body;
};
constexpr BodyRule kBodies[] = {
    {"__nv_powi", powerOfInteger},  {"__nv_powif", powerOfInteger},
    {"__nv_llround", roundToLong},  {"__nv_llroundf", roundToLong},
    {"__nv_llrint", rintToLong},    {"__nv_llrintf", rintToLong},
    {"__nv_fmin", minimum},         {"__nv_fminf", minimum},
    {"__nv_fmax", maximum},         {"__nv_fmaxf", maximum},
    {"__nv_fast_fdividef", divide}, {"__nv_half2float", halfToFloat},
    {"__nv_fdiv_rn", divide},       {"__nv_ddiv_rn", divide},
};

void defineByLibm(Module& module, const std::string& device, StringRef host) {
  Function* function = module.getFunction(device);
  if (!function)
    return;
  ReturnInst* place = startBody(*function);
  Emit emit(*place);
  finishBody(place, emit.libm(host, function->getReturnType(), argumentsOf(*function)));
}

} // namespace

void replaceDeviceMath(Module& module) {
  for (const char* name : kLibmPairs)
    for (const char* suffix : {"", "f"})
      defineByLibm(module, std::string("__nv_") + name + suffix, std::string(name) + suffix);
  for (const Renamed& rule : kLibmRenamed)
    defineByLibm(module, rule.device, rule.host);
  for (const IntrinsicRule& rule : kIntrinsics)
    if (Function* function = module.getFunction(rule.device)) {
      ReturnInst* place = startBody(*function);
      Emit emit(*place);
      finishBody(place, emit.CreateIntrinsic(rule.intrinsic, {function->getReturnType()},
                                             argumentsOf(*function)));
    }
  for (const BodyRule& rule : kBodies)
    if (Function* function = module.getFunction(rule.device)) {
      ReturnInst* place = startBody(*function);
      Emit emit(*place);
      finishBody(place, rule.body(emit, *function));
    }
}

} // namespace mneme::compile::cpu
