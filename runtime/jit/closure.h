// Room jit: the fields of closures that become constants, and their values in a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/core/abi/mneme_jit_lambda.h"
#include "runtime/core/embed/kernel_blob.h"

namespace mneme::jit {

/// The closures of one type that are passed to a kernel or host function.
class Closure {
public:
  /// `entry` lives as long as the process. Without `places` the closures cannot be found.
  Closure(const mneme_closure& entry, std::vector<embed::ClosurePlace> places)
      : entry_(&entry), places_(std::move(places)) {}

  /// The fields of this type; null until a lambda of it is registered.
  const mneme_closure_fields* fields() const noexcept {
    return __atomic_load_n(&entry_->fields, __ATOMIC_ACQUIRE);
  }

  /// Calls `visit(place, field, value)` for each of these fields in each closure among the
  /// arguments; ends when it returns false, and returns whether it never did.
  template <typename Visit>
  bool visit(const mneme_closure_fields* fields, void** args, Visit&& visit) const {
    if (!fields)
      return true;
    for (const embed::ClosurePlace& place : places_) {
      const auto* closure = static_cast<const std::byte*>(args[place.argument]) + place.offset;
      if (place.isPointee)
        std::memcpy(&closure, args[place.argument], sizeof(closure));
      for (uint64_t index = 0; index < fields->count; ++index) {
        const mneme_closure_field& field = fields->fields[index];
        if (field.offset + uint64_t{field.sizeBytes} <= place.sizeBytes &&
            !visit(place, field, closure + field.offset))
          return false;
      }
    }
    return true;
  }

private:
  const mneme_closure* entry_;
  std::vector<embed::ClosurePlace> places_;
};

} // namespace mneme::jit
