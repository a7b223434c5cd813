// Room emulator/lowering: names and lookup of NVVM intrinsics, with one table per group.
#pragma once

#include <optional>
#include <span>

#include "runtime/emulator/lowering/emit.h"

namespace mneme::compile::cpu {

/// Properties from the end of an intrinsic's (or PTX instruction's) name.
enum Modifier : unsigned {
  Rn = 1u << 0,
  Rz = 1u << 1,
  Rm = 1u << 2,
  Rp = 1u << 3,
  Ftz = 1u << 4,
  Sat = 1u << 5,
  Approx = 1u << 6,
  Full = 1u << 7,
  NaN = 1u << 8,
  XorSignAbs = 1u << 9,
  Relu = 1u << 10,
  SatFinite = 1u << 11,
  AnyRounding = Rn | Rz | Rm | Rp,
};

struct NvvmCall {
  Emit& emit;
  llvm::CallInst& call;
  unsigned modifiers = 0;
  unsigned variant = 0; ///< the table entry's own number

  llvm::Value* operand(unsigned index) const { return call.getArgOperand(index); }
  llvm::Type* type() const { return call.getType(); }
  bool has(Modifier modifier) const { return modifiers & modifier; }
  Rounding rounding() const;
};

/// Returns the call's replacement; null for calls without a result.
using NvvmHandler = llvm::Value* (*)(const NvvmCall&);

struct NvvmRule {
  const char* name; ///< without "llvm.nvvm."; the rest of the name must be modifiers and types
  unsigned
      modifiers; ///< modifiers that the handler supports; others make the intrinsic unsupported
  NvvmHandler handler;
  unsigned variant = 0;
};

std::span<const NvvmRule> nvvmArithmeticRules();
std::span<const NvvmRule> nvvmConvertRules();
std::span<const NvvmRule> nvvmMemoryRules();
std::span<const NvvmRule> nvvmSyncRules();
std::span<const NvvmRule> nvvmBarrierObjectRules();

/// Finds the rule with the longest matching name and sets the modifiers from the rest of the name.
const NvvmRule* findNvvmRule(llvm::StringRef name, unsigned& modifiers);

} // namespace mneme::compile::cpu
