#include "runtime/emulator/lowering/nvptx/table.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSwitch.h>

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr StringRef kTypes[] = {"f",   "d",   "f16",   "f16x2",  "bf16", "bf16x2",
                                "f32", "f64", "v2f16", "v2bf16", "i32",  "i64",
                                "p0",  "p1",  "p3",    "p4",     "p5"};

/// The bit of a token, 0 for a type suffix, nothing for a word no rule knows.
std::optional<unsigned> modifierOf(StringRef token) {
  constexpr unsigned kUnknown = ~0u;
  unsigned bit = StringSwitch<unsigned>(token)
                     .Case("rn", Rn)
                     .Case("rz", Rz)
                     .Case("rm", Rm)
                     .Case("rp", Rp)
                     .Case("ftz", Ftz)
                     .Case("sat", Sat)
                     .Case("approx", Approx)
                     .Case("full", Full)
                     .Case("nan", NaN)
                     .Case("xorsign", XorSignAbs)
                     .Case("abs", XorSignAbs)
                     .Case("relu", Relu)
                     .Case("satfinite", SatFinite)
                     .Default(is_contained(kTypes, token) ? 0 : kUnknown);
  if (bit == kUnknown)
    return std::nullopt;
  return bit;
}

StringMap<const NvvmRule*> buildIndex() {
  StringMap<const NvvmRule*> index;
  for (auto rules : {nvvmArithmeticRules(), nvvmConvertRules(), nvvmMemoryRules(), nvvmSyncRules(),
                     nvvmBarrierObjectRules()})
    for (const NvvmRule& rule : rules)
      index[rule.name] = &rule;
  return index;
}

} // namespace

Rounding NvvmCall::rounding() const {
  if (has(Rz))
    return Rounding::Zero;
  if (has(Rm))
    return Rounding::Down;
  return has(Rp) ? Rounding::Up : Rounding::Nearest;
}

const NvvmRule* findNvvmRule(StringRef name, unsigned& modifiers) {
  static const StringMap<const NvvmRule*> index = buildIndex();
  modifiers = 0;
  StringRef head = name;
  while (true) {
    auto found = index.find(head);
    if (found != index.end()) {
      const NvvmRule* rule = found->second;
      return (modifiers & ~rule->modifiers) ? nullptr : rule;
    }
    auto [front, token] = head.rsplit('.');
    if (token.empty())
      return nullptr;
    std::optional<unsigned> bit = modifierOf(token);
    if (!bit)
      return nullptr;
    modifiers |= *bit;
    head = front;
  }
}

} // namespace mneme::compile::cpu
