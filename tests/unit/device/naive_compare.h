// A slow, plain restatement of compare.h to test the fast one against.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/devices/compare.h"
#include "runtime/devices/element.h"

namespace test {

using namespace mneme::device;

inline bool isFloatType(DataType type) { return type >= DataType::F16; }

inline long double naiveValue(DataType type, uint64_t bits) {
  switch (type) {
  case DataType::I8:
    return static_cast<int8_t>(bits);
  case DataType::I16:
    return static_cast<int16_t>(bits);
  case DataType::I32:
    return static_cast<int32_t>(bits);
  case DataType::I64:
    return static_cast<int64_t>(bits);
  case DataType::F16:
    return decode<DataType::F16>(bits);
  case DataType::F32:
    return decode<DataType::F32>(bits);
  case DataType::F64:
    return decode<DataType::F64>(bits);
  case DataType::BF16:
    return decode<DataType::BF16>(bits);
  case DataType::F8E4M3:
    return decode<DataType::F8E4M3>(bits);
  case DataType::F8E5M2:
    return decode<DataType::F8E5M2>(bits);
  default:
    return bits;
  }
}

// Place of a float on the line of all floats of its type.
inline __int128 naivePlace(DataType type, uint64_t bits) {
  const uint64_t sign = uint64_t{1} << (8 * sizeOf(type) - 1);
  const auto magnitude = static_cast<__int128>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

inline CompareReport naiveCompare(const CompareRequest& request) {
  const long double infinity = std::numeric_limits<long double>::infinity();
  const uint64_t elementBytes = sizeOf(request.type);
  const uint64_t count = request.sizeBytes / elementBytes;
  const bool isExactWanted = request.threshold == 0 && request.norm == Norm::None;
  CompareReport report;
  long double norms[2][3] = {};
  uint64_t differingBits = 0, firstActual = 0, firstExpected = 0, first = 0, mismatches = 0;
  for (uint64_t i = 0; i <= count; ++i) {
    const uint64_t bytes = i < count ? elementBytes : request.sizeBytes % elementBytes;
    if (bytes == 0)
      break;
    uint64_t a = 0, e = 0;
    memcpy(&a, reinterpret_cast<const char*>(request.actual) + i * elementBytes, bytes);
    memcpy(&e, reinterpret_cast<const char*>(request.expected) + i * elementBytes, bytes);
    const bool isSame = a == e;
    differingBits += !isSame;
    bool isWithin = isSame;
    if (i < count) {
      const long double va = naiveValue(request.type, a), ve = naiveValue(request.type, e);
      long double difference = va == ve ? 0 : std::fabs(va - ve);
      if (isFloatType(request.type) && difference != infinity)
        difference = static_cast<double>(va) == static_cast<double>(ve)
                         ? 0.0
                         : std::fabs(static_cast<double>(va) - static_cast<double>(ve));
      long double relative = difference == 0 ? 0 : ve == 0 ? infinity : difference / std::fabs(ve);
      if (isFloatType(request.type))
        relative = difference == 0 ? 0
                   : ve == 0 ? infinity
                             : static_cast<double>(difference) / std::fabs(static_cast<double>(ve));
      __int128 ulp = naivePlace(request.type, a) - naivePlace(request.type, e);
      ulp = !isFloatType(request.type) ? 0 : ulp < 0 ? -ulp : ulp;
      if (va != va || ve != ve) {
        const bool isMatch =
            va != va && ve != ve &&
            (request.nan == NanPolicy::Equal || (request.nan == NanPolicy::Bitwise && isSame));
        difference = relative = isMatch ? 0 : infinity;
        ulp = isMatch ? 0 : std::numeric_limits<uint64_t>::max();
      } else if (difference != 0 && (std::isinf(va) || std::isinf(ve))) {
        relative = infinity;
      }
      isWithin = request.kind == ThresholdKind::Absolute ? difference <= request.threshold
                 : request.kind == ThresholdKind::Ulp
                     ? (isFloatType(request.type) ? static_cast<long double>(ulp) : difference) <=
                           request.threshold
                     : difference <= request.threshold * std::fabs(ve);
      if (isFloatType(request.type) && request.kind == ThresholdKind::Relative)
        isWithin = static_cast<double>(difference) <=
                   request.threshold * std::fabs(static_cast<double>(ve));
      if (va != va && ve != ve)
        isWithin = difference == 0;
      isWithin = isWithin && difference != infinity;
      if (isExactWanted)
        isWithin = isSame;
      if (request.norm != Norm::None)
        isWithin = isSame && difference != infinity;
      if (!isSame) {
        report.maxAbsolute = std::fmax(report.maxAbsolute, static_cast<double>(difference));
        report.maxRelative = std::fmax(report.maxRelative, static_cast<double>(relative));
        report.maxUlp = std::max(report.maxUlp, static_cast<uint64_t>(ulp));
      }
      const long double parts[2] = {difference, std::isfinite(ve) ? std::fabs(ve) : 0};
      for (int k = 0; k < 2; ++k) {
        norms[k][0] += parts[k];
        norms[k][1] += parts[k] * parts[k];
        norms[k][2] = std::max(norms[k][2], parts[k]);
      }
    }
    if (!isWithin && mismatches++ == 0) {
      first = i;
      firstActual = a;
      firstExpected = e;
    }
  }
  report.isExact = differingBits == 0;
  report.differentCount = differingBits;
  report.isAccepted = mismatches == 0;
  if (request.norm != Norm::None) {
    const int which = static_cast<int>(request.norm) - 1;
    long double values[2] = {norms[0][which], norms[1][which]};
    if (request.norm == Norm::L2)
      for (auto& value : values)
        value = std::sqrt(value);
    report.normValue = static_cast<double>(values[0]);
    const long double scale = request.kind == ThresholdKind::Relative ? values[1] : 1;
    const uint64_t tail = request.sizeBytes % elementBytes;
    const bool isTailSame =
        tail == 0 ||
        memcmp(reinterpret_cast<const char*>(request.actual) + count * elementBytes,
               reinterpret_cast<const char*>(request.expected) + count * elementBytes, tail) == 0;
    report.isAccepted =
        std::isfinite(values[0]) && values[0] <= request.threshold * scale && isTailSame;
    if (report.isAccepted)
      mismatches = 0;
  }
  report.mismatchCount = mismatches;
  if (mismatches > 0) {
    report.firstMismatch = first;
    report.firstActualBits = firstActual;
    report.firstExpectedBits = firstExpected;
  }
  return report;
}

} // namespace test
