#include "runtime/jit/value_source.h"

#include <cstring>
#include <string>

#include "runtime/jit/refusal.h"

namespace mneme::jit {
namespace {

template <typename Integer> int64_t integerAt(const void* place) noexcept {
  Integer value = 0;
  std::memcpy(&value, place, sizeof(value));
  return static_cast<int64_t>(value);
}

int64_t integerAt(const void* place, uint32_t sizeBytes, bool isUnsigned) noexcept {
  switch (sizeBytes) {
  case 1:
    return isUnsigned ? integerAt<uint8_t>(place) : integerAt<int8_t>(place);
  case 2:
    return isUnsigned ? integerAt<uint16_t>(place) : integerAt<int16_t>(place);
  case 4:
    return isUnsigned ? integerAt<uint32_t>(place) : integerAt<int32_t>(place);
  default:
    return integerAt<int64_t>(place);
  }
}

} // namespace

const void* ValueSource::place(void** args) const noexcept {
  const void* const argument =
      static_cast<const std::byte*>(args[mark_.argument]) + offset_.value_or(0);
  if (!isPointee())
    return argument;
  const void* pointer = nullptr;
  std::memcpy(&pointer, argument, sizeof(pointer));
  return pointer;
}

int64_t ValueSource::count(void** args) const noexcept {
  return mark_.countArgument < 0 ? static_cast<int64_t>(mark_.count)
                                 : integerAt(args[mark_.countArgument], mark_.countBytes,
                                             mark_.flags & MNEME_JIT_MARK_UNSIGNED_COUNT);
}

size_t ValueSource::sizeBytes(void** args) const noexcept {
  const int64_t elements = count(args);
  return elements > 0 && place(args) ? static_cast<size_t>(elements) * mark_.sizeBytes : 0;
}

void ValueSource::refuseNonsense(void** args) const {
  const bool isArray =
      mark_.type == MNEME_CONSTANT_ARRAY || mark_.type == MNEME_CONSTANT_STATIC_ARRAY;
  if (!isArray)
    return;
  if (const int64_t elements = count(args); elements <= 0)
    refuse(("Invalid number of elements in array: " + std::to_string(elements)).c_str());
  if (mark_.elementType == MNEME_CONSTANT_LONG_DOUBLE ||
      mark_.elementType == MNEME_CONSTANT_POINTER)
    refuse(("JIT Incompatible type in runtime constant array: " + std::to_string(mark_.elementType))
               .c_str());
}

ArgValue ValueSource::value(void** args) const {
  const auto* bytes = static_cast<const std::byte*>(place(args));
  ArgValue value{
      .index = mark_.argument, .bytes = {bytes, bytes + sizeBytes(args)}, .offset = offset_};
  if (mark_.type == MNEME_CONSTANT_ARRAY || mark_.type == MNEME_CONSTANT_STATIC_ARRAY)
    value.content = mark_.elementType;
  else if (mark_.type == MNEME_CONSTANT_OBJECT)
    value.content = MNEME_CONSTANT_OBJECT;
  return value;
}

std::vector<ArgValue> valuesOf(std::span<const ValueSource> sources, void** args) {
  std::vector<ArgValue> values;
  for (const ValueSource& source : sources) {
    source.refuseNonsense(args);
    if (source.sizeBytes(args) > 0)
      values.push_back(source.value(args));
  }
  return values;
}

} // namespace mneme::jit
