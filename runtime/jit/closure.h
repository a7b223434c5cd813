// Room jit: finds the registered values of a lambda. Lambdas of one type may be registered with
// several sets of values; a launch needs those of its own closures.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/abi/mneme_jit_lambda.h"
#include "runtime/core/embed/kernel_blob.h"

namespace mneme::jit {

/// The closures of one type that are passed to a kernel or host function.
class Closure {
public:
  /// `entry` lives as long as the process. Without `places` the closures cannot be found.
  Closure(const mneme_lambda& entry, std::vector<embed::ClosurePlace> places)
      : entry_(&entry), places_(std::move(places)) {}

  /// Returns the registered values that all closures in these arguments have, the latest
  /// registration first. Null if there are none, or if the type was never registered.
  const mneme_lambda_values* values(void** args) const noexcept;

private:
  bool holds(const mneme_lambda_values& values, void** args) const noexcept;

  const mneme_lambda* entry_;
  std::vector<embed::ClosurePlace> places_;
};

} // namespace mneme::jit
