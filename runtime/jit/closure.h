// Room jit: which of the values that lambdas of one type were registered with the one at hand has.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/mneme_jit_lambda.h"
#include "runtime/embed/kernel_blob.h"

namespace mneme::jit {

/// Closures of one type that a kernel or host function is given.
class Closure {
public:
  /// `entry` lives as long as the process. With no `places` nobody knows where the closures are.
  Closure(const mneme_lambda& entry, std::vector<embed::ClosurePlace> places)
      : entry_(&entry), places_(std::move(places)) {}

  /// The values that all closures of these arguments have: those of the last registration, else of
  /// an earlier one. Null if they have none of them, or the type was never registered.
  const mneme_lambda_values* values(void** args) const noexcept;

private:
  bool holds(const mneme_lambda_values& values, void** args) const noexcept;

  const mneme_lambda* entry_;
  std::vector<embed::ClosurePlace> places_;
};

} // namespace mneme::jit
