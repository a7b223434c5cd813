// Room jit/tuned: chooses among many variants without checking each. No side effects.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/jit/tuned/select.h"

namespace mneme::tuned {

/// Variants, indexed by the launches they were found for.
class VariantIndex {
public:
  /// `variants` must outlive it, and not move.
  explicit VariantIndex(std::span<const Variant> variants);

  /// Returns what choose() of select.h returns. The time grows with the number of variants for
  /// exactly this launch and of variants whose guards allow other launches, not with the rest.
  /// Thread-safe.
  Choice choose(const LaunchFacts& facts) const;

private:
  /// The facts about launches that a group of variants states; their values form a key.
  struct Form {
    bool hasArch = false, hasGrid = false, hasBlock = false, hasShared = false;
    std::vector<ArgPlace> args;
    bool operator==(const Form&) const = default;
  };
  struct Table {
    Form form;
    std::unordered_map<std::string, std::vector<uint32_t>> variants;
  };
  static Form formOf(const Variant& variant);
  static std::string keyOf(const Form& form, const LaunchFacts& facts);
  static std::string keyOf(const Variant& variant);
  static bool isBound(const Variant& variant);

  std::span<const Variant> variants_;
  std::vector<Table> tables_;
  std::vector<uint32_t> free_; ///< variants that may serve launches other than their own
};

} // namespace mneme::tuned
