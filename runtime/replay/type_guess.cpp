#include "runtime/replay/type_guess.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace mneme::replay {

using device::DataType;

namespace {

/// Share of words that look like what they are counted for, over all that are not zero.
struct Share {
  uint64_t plausible = 0;
  uint64_t counted = 0;
  void count(bool isPlausible) {
    ++counted;
    plausible += isPlausible;
  }
  bool isConvincing() const { return counted > 0 && plausible * 10 >= counted * 9; }
};

/// Magnitudes that real data has; random bits pass for f32 in one case of three.
template <typename Float> bool looksLike(Float value) {
  if (!std::isfinite(value))
    return std::isinf(value) || std::isnan(value);
  const double magnitude = std::fabs(static_cast<double>(value));
  return magnitude > 1e-12 && magnitude < 1e12;
}

template <typename Value> Value valueAt(std::span<const std::byte> bytes, size_t offset) {
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

} // namespace

bool isFloating(DataType type) {
  switch (type) {
  case DataType::F16:
  case DataType::F32:
  case DataType::F64:
  case DataType::BF16:
  case DataType::F8E4M3:
  case DataType::F8E5M2:
    return true;
  default:
    return false;
  }
}

DataType guessType(std::span<const std::byte> bytes) {
  if (bytes.size() < 4)
    return DataType::U8;
  Share even, odd, both, wide, small;
  for (size_t offset = 0; offset + 4 <= bytes.size(); offset += 4) {
    const uint32_t word = valueAt<uint32_t>(bytes, offset);
    if (word == 0)
      continue;
    const bool isFloat = looksLike(valueAt<float>(bytes, offset));
    (offset % 8 == 0 ? even : odd).count(isFloat);
    both.count(isFloat);
    small.count(word < (1u << 24) || word > 0xff000000u);
  }
  for (size_t offset = 0; offset + 8 <= bytes.size(); offset += 8)
    if (valueAt<uint64_t>(bytes, offset) != 0)
      wide.count(looksLike(valueAt<double>(bytes, offset)));
  // The upper words of doubles look like floats, the lower ones are zero or random.
  const bool isEvenFloat = even.isConvincing();
  if (wide.isConvincing() && !isEvenFloat && bytes.size() % 8 == 0)
    return DataType::F64;
  if (both.isConvincing())
    return DataType::F32;
  return small.isConvincing() ? DataType::U32 : DataType::U8;
}

} // namespace mneme::replay
