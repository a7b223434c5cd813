// Room devices: the distance of two elements, and whether it is within a tolerance. The same code
// runs on the host and on GPUs; no library headers. Internal.
//
// Integers are compared as an x86 long double would: 64 bits of mantissa, rounded to nearest even,
// whatever the processor.
#pragma once

#include "runtime/devices/element.h"

namespace mneme::device {

struct Tolerance {
  double threshold = 0;
  ThresholdKind kind = ThresholdKind::Absolute;
  NanPolicy nan = NanPolicy::Equal;
};

struct Distance {
  double absolute = 0;
  double relative = 0;
  uint64_t ulp = 0;
  bool isWithin = true;
};

constexpr uint64_t largestUlp = ~uint64_t{0};

/// value <= limit without rounding; limit is not NaN and not negative.
inline bool isAtMost(uint64_t value, double limit) noexcept {
  return limit >= powerOfTwo(64) || value <= static_cast<uint64_t>(limit);
}

/// difference <= threshold * magnitude, the product rounded to 64 bits; difference is not 0.
inline bool isAtMostShare(uint64_t difference, double threshold, uint64_t magnitude) noexcept {
  using Wide = unsigned __int128;
  const auto bits = __builtin_bit_cast(uint64_t, threshold);
  const int field = static_cast<int>(bits >> 52);
  if (field == 0x7ff)
    return magnitude != 0;
  uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
  int exponent = -1074;
  if (field != 0) {
    mantissa |= uint64_t{1} << 52;
    exponent = field - 1075;
  }
  Wide product = static_cast<Wide>(mantissa) * magnitude;
  if (product == 0)
    return false;
  const auto high = static_cast<uint64_t>(product >> 64);
  if (high != 0) {
    const int shift = 64 - __builtin_clzll(high);
    const Wide rest = product & ((Wide{1} << shift) - 1), half = Wide{1} << (shift - 1);
    product >>= shift;
    product += rest > half || (rest == half && (product & 1));
    exponent += shift;
  }
  if (exponent >= 64)
    return true;
  if (exponent >= 0) {
    const uint64_t whole = difference >> exponent;
    return Wide{whole} + ((whole << exponent) != difference) <= product;
  }
  return exponent > -65 && Wide{difference} << -exponent <= product;
}

/// numerator / denominator, rounded to 64 bits and then to double; neither is 0.
inline double roundedQuotient(uint64_t numerator, uint64_t denominator) noexcept {
  const int top = __builtin_clzll(numerator), bottom = __builtin_clzll(denominator);
  uint64_t rest = numerator << top;
  const uint64_t divisor = denominator << bottom;
  int exponent = bottom - top - 63;
  uint64_t quotient = 0;
  bool isWide = false; // 2 * rest does not fit
  if (rest < divisor) {
    --exponent;
    isWide = rest >> 63;
    rest <<= 1;
  }
  for (int bit = 0; bit < 64; ++bit) {
    const bool isOne = isWide || rest >= divisor;
    quotient = quotient << 1 | isOne;
    rest -= isOne ? divisor : 0;
    isWide = rest >> 63;
    rest <<= 1;
  }
  const bool isMore = isWide || rest > divisor, isHalf = !isWide && rest == divisor;
  if (isMore || (isHalf && (quotient & 1)))
    if (++quotient == 0) {
      quotient = uint64_t{1} << 63;
      ++exponent;
    }
  return static_cast<double>(quotient) * powerOfTwo(exponent);
}

// `largest` is the largest relative distance so far: a relative one is exact if it is more than
// that, else it may be anything up to it, which saves most divisions.

inline Distance integerDistance(const Tolerance& tolerance, uint64_t difference, uint64_t magnitude,
                                double largest) noexcept {
  if (difference == 0)
    return {};
  Distance result;
  result.absolute = static_cast<double>(difference);
  const double scale = static_cast<double>(magnitude);
  if (magnitude == 0)
    result.relative = infinity;
  else if (result.absolute * (1 + powerOfTwo(-49)) >= largest * scale)
    result.relative = roundedQuotient(difference, magnitude);
  result.isWithin = tolerance.kind == ThresholdKind::Relative
                        ? isAtMostShare(difference, tolerance.threshold, magnitude)
                        : isAtMost(difference, tolerance.threshold);
  return result;
}

// An infinity matches itself only: it has no distance from other values, for any threshold.
inline Distance floatDistance(const Tolerance& tolerance, double a, double e, uint64_t ulp,
                              bool isSameBits, double largest) noexcept {
  const bool isNanA = a != a, isNanE = e != e;
  if (isNanA || isNanE) {
    const bool isMatch =
        isNanA && isNanE &&
        (tolerance.nan == NanPolicy::Equal || (tolerance.nan == NanPolicy::Bitwise && isSameBits));
    return isMatch ? Distance{} : Distance{infinity, infinity, largestUlp, false};
  }
  if (a == e)
    return {};
  Distance result;
  result.ulp = ulp;
  const double magnitude = __builtin_fabs(e);
  if (__builtin_fabs(a) == infinity || magnitude == infinity) {
    result.absolute = result.relative = infinity;
    result.isWithin = false;
    return result;
  }
  result.absolute = __builtin_fabs(a - e);
  const double bound = largest * magnitude;
  if (magnitude == 0)
    result.relative = infinity;
  else if (bound < powerOfTwo(-960) || result.absolute * (1 + powerOfTwo(-49)) >= bound)
    result.relative = result.absolute / magnitude;
  if (tolerance.kind == ThresholdKind::Absolute)
    result.isWithin = result.absolute <= tolerance.threshold;
  else if (tolerance.kind == ThresholdKind::Relative)
    result.isWithin = result.absolute <= tolerance.threshold * magnitude;
  else
    result.isWithin = static_cast<double>(result.ulp) <= tolerance.threshold;
  return result;
}

/// Both are whole elements sign-extended to 64 bits if the type is signed, else zero-extended.
inline Distance integerDistance(const Tolerance& tolerance, bool isSigned, uint64_t actual,
                                uint64_t expected, double largest) noexcept {
  const bool isMore =
      isSigned ? static_cast<int64_t>(actual) > static_cast<int64_t>(expected) : actual > expected;
  const bool isNegative = isSigned && static_cast<int64_t>(expected) < 0;
  return integerDistance(tolerance, isMore ? actual - expected : expected - actual,
                         isNegative ? 0 - expected : expected, largest);
}

template <DataType type>
Distance distanceOf(const Tolerance& tolerance, uint64_t actual, uint64_t expected,
                    double largest) noexcept {
  if constexpr (isIntegerType<type>) {
    using Integer = typename IntegerOf<type>::Type;
    constexpr bool isSigned = static_cast<Integer>(-1) < Integer{1};
    return integerDistance(tolerance, isSigned, static_cast<uint64_t>(static_cast<Integer>(actual)),
                           static_cast<uint64_t>(static_cast<Integer>(expected)), largest);
  } else {
    return floatDistance(tolerance, decode<type>(actual), decode<type>(expected),
                         ulpDistance(actual, expected, sizeof(typename FloatFormat<type>::Bits)),
                         actual == expected, largest);
  }
}

template <uint64_t bytes> struct UnsignedOf;
template <> struct UnsignedOf<1> {
  using Type = uint8_t;
};
template <> struct UnsignedOf<2> {
  using Type = uint16_t;
};
template <> struct UnsignedOf<4> {
  using Type = uint32_t;
};
template <> struct UnsignedOf<8> {
  using Type = uint64_t;
};

template <DataType type> constexpr uint64_t elementBytesOf() noexcept {
  if constexpr (isIntegerType<type>)
    return sizeof(typename IntegerOf<type>::Type);
  else
    return sizeof(typename FloatFormat<type>::Bits);
}

/// Unsigned integer of the size of an element.
template <DataType type> using BitsOf = typename UnsignedOf<elementBytesOf<type>()>::Type;

} // namespace mneme::device
