#include "runtime/jit/closure.h"

#include <cstring>

namespace mneme::jit {

bool Closure::holds(const mneme_lambda_values& values, void** args) const noexcept {
  for (const embed::ClosurePlace& place : places_) {
    const auto* closure = static_cast<const std::byte*>(args[place.argument]) + place.offset;
    if (place.isPointee)
      std::memcpy(&closure, args[place.argument], sizeof(closure));
    for (uint64_t index = 0; index < values.fieldCount; ++index) {
      const mneme_lambda_field& field = values.fields[index];
      if (field.offset + uint64_t{field.sizeBytes} > place.sizeBytes ||
          std::memcmp(closure + field.offset, field.value, field.sizeBytes) != 0)
        return false;
    }
  }
  return true;
}

const mneme_lambda_values* Closure::values(void** args) const noexcept {
  const mneme_lambda_values* present = __atomic_load_n(&entry_->values, __ATOMIC_ACQUIRE);
  if (!present || holds(*present, args))
    return present;
  const mneme_lambda_values* other = __atomic_load_n(&entry_->all, __ATOMIC_ACQUIRE);
  while (other && !holds(*other, args))
    other = other->older;
  return other;
}

} // namespace mneme::jit
