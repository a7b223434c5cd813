// Room tuned: chooses among many variants without looking at each. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/tuned/select.h"

namespace mneme::tuned {

/// Variants by the launches they were found for.
class VariantIndex {
public:
  /// `variants` has to live as long, and stay where it is.
  explicit VariantIndex(std::span<const Variant> variants);

  /// What choose() says. The time grows with the variants for the very launch and with those that
  /// guards do not bind to theirs, not with the others. Thread-safe.
  Choice choose(const LaunchFacts& facts) const;

private:
  /// Variants that say the same of their launches: with values for it they have a key.
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
  std::vector<uint32_t> free_; ///< may serve launches other than their own
};

} // namespace mneme::tuned
