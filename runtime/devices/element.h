// Room devices: decodes the bits of one element. Compiled for the host and for GPUs; no library
// headers. Internal.
#pragma once

#include <stdint.h>

#include "runtime/devices/compare_types.h"

namespace mneme::device {

/// Layout of a binary floating format; fp8 E4M3 has no infinity and one NaN per sign.
template <DataType type> struct FloatFormat;
template <> struct FloatFormat<DataType::F16> {
  using Bits = uint16_t;
  static constexpr int exponent = 5, mantissa = 10;
  static constexpr bool hasInfinity = true;
};
template <> struct FloatFormat<DataType::BF16> {
  using Bits = uint16_t;
  static constexpr int exponent = 8, mantissa = 7;
  static constexpr bool hasInfinity = true;
};
template <> struct FloatFormat<DataType::F8E4M3> {
  using Bits = uint8_t;
  static constexpr int exponent = 4, mantissa = 3;
  static constexpr bool hasInfinity = false;
};
template <> struct FloatFormat<DataType::F8E5M2> {
  using Bits = uint8_t;
  static constexpr int exponent = 5, mantissa = 2;
  static constexpr bool hasInfinity = true;
};
template <> struct FloatFormat<DataType::F32> {
  using Bits = uint32_t;
  static constexpr int exponent = 8, mantissa = 23;
  static constexpr bool hasInfinity = true;
};
template <> struct FloatFormat<DataType::F64> {
  using Bits = uint64_t;
  static constexpr int exponent = 11, mantissa = 52;
  static constexpr bool hasInfinity = true;
};

template <DataType type> struct IntegerOf {
  using Type = void;
};
template <> struct IntegerOf<DataType::U8> {
  using Type = uint8_t;
};
template <> struct IntegerOf<DataType::I8> {
  using Type = int8_t;
};
template <> struct IntegerOf<DataType::U16> {
  using Type = uint16_t;
};
template <> struct IntegerOf<DataType::I16> {
  using Type = int16_t;
};
template <> struct IntegerOf<DataType::U32> {
  using Type = uint32_t;
};
template <> struct IntegerOf<DataType::I32> {
  using Type = int32_t;
};
template <> struct IntegerOf<DataType::U64> {
  using Type = uint64_t;
};
template <> struct IntegerOf<DataType::I64> {
  using Type = int64_t;
};

template <DataType type> constexpr bool isIntegerType = type <= DataType::I64;

constexpr double infinity = __builtin_huge_val();

constexpr double powerOfTwo(int exponent) noexcept {
  return __builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52);
}

/// Decodes by the fields of the format; for formats the host has no type for.
template <DataType type> double decodeFields(uint64_t bits) noexcept {
  using Format = FloatFormat<type>;
  constexpr uint32_t exponentMask = (1u << Format::exponent) - 1;
  constexpr uint32_t mantissaMask = (1u << Format::mantissa) - 1;
  constexpr int bias = (1 << (Format::exponent - 1)) - 1;
  const bool isNegative = (bits >> (Format::exponent + Format::mantissa)) & 1;
  const auto exponent = static_cast<uint32_t>(bits >> Format::mantissa) & exponentMask;
  const auto mantissa = static_cast<uint32_t>(bits) & mantissaMask;
  double magnitude = 0;
  if (exponent == exponentMask && Format::hasInfinity)
    magnitude = mantissa ? __builtin_nan("") : infinity;
  else if (exponent == exponentMask && mantissa == mantissaMask)
    magnitude = __builtin_nan("");
  else if (exponent == 0)
    magnitude = mantissa * powerOfTwo(1 - bias - Format::mantissa);
  else
    magnitude = (mantissa + mantissaMask + 1) *
                powerOfTwo(static_cast<int>(exponent) - bias - Format::mantissa);
  return isNegative ? -magnitude : magnitude;
}

/// The value of a floating element; every format fits into double.
template <DataType type> double decode(uint64_t bits) noexcept {
  if constexpr (type == DataType::F64)
    return __builtin_bit_cast(double, bits);
  else if constexpr (type == DataType::F32)
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits));
  else if constexpr (type == DataType::BF16)
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits << 16));
  else
    return decodeFields<type>(bits);
}

/// Returns the number of steps between neighbouring values from one to the other; +0 and -0 count
/// as equal.
inline uint64_t ulpDistance(uint64_t first, uint64_t second, uint32_t elementBytes) noexcept {
  const uint64_t sign = uint64_t{1} << (8 * elementBytes - 1);
  const uint64_t a = first & (sign - 1), b = second & (sign - 1);
  if ((first & sign) != (second & sign))
    return a + b;
  return a > b ? a - b : b - a;
}

} // namespace mneme::device
