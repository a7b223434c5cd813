// Random buffers, tolerances and types, and what a report has to be.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "runtime/devices/compare.h"

namespace test {

using namespace mneme::device;

inline std::mt19937_64 random_(21);

inline uint64_t below(uint64_t limit) { return random_() % limit; }

/// Bits around which things go wrong: zeros, one, subnormals, the largest, infinity, NaNs.
inline uint64_t oddBits(DataType type) {
  const uint64_t sign = uint64_t{1} << (8 * sizeOf(type) - 1);
  constexpr uint64_t f64[] = {0x7ff0000000000000, 0x7ff8000000000001, 0x7fefffffffffffff,
                              0x3ff0000000000000, 0x000fffffffffffff};
  constexpr uint64_t f32[] = {0x7f800000, 0x7fc00001, 0x7f7fffff, 0x3f800000, 0x007fffff};
  constexpr uint64_t f16[] = {0x7c00, 0x7e01, 0x7bff, 0x3c00, 0x03ff};
  constexpr uint64_t bf16[] = {0x7f80, 0x7fc1, 0x7f7f, 0x3f80, 0x007f};
  constexpr uint64_t f8[] = {0x7c, 0x7f, 0x7e, 0x38, 0x03};
  const uint64_t* table = type == DataType::F64    ? f64
                          : type == DataType::F32  ? f32
                          : type == DataType::F16  ? f16
                          : type == DataType::BF16 ? bf16
                                                   : f8;
  const uint64_t bits = below(7) < 5 ? table[below(5)] : below(2);
  return below(2) ? bits : bits ^ sign;
}

struct Buffers {
  std::vector<std::byte> actual, expected;
};

/// Equal buffers with some elements changed a little, a lot or into something odd.
inline Buffers makeBuffers(DataType type, uint64_t sizeBytes, uint64_t changes) {
  const uint64_t elementBytes = sizeOf(type), count = sizeBytes / elementBytes;
  Buffers buffers;
  buffers.expected.resize(sizeBytes);
  const bool isRough = below(3) == 0;
  for (auto& byte : buffers.expected)
    byte = static_cast<std::byte>(isRough ? random_() : 0x30 + below(16));
  const auto put = [&](std::vector<std::byte>& into, uint64_t index, uint64_t bits) {
    memcpy(into.data() + index * elementBytes, &bits, elementBytes);
  };
  for (uint64_t i = below(2) ? below(20) : 0; i-- > 0 && count > 0;)
    put(buffers.expected, below(count), oddBits(type));
  buffers.actual = buffers.expected;
  for (; changes-- > 0 && sizeBytes > 0;) {
    const uint64_t kind = below(4);
    if (kind == 0 || count == 0) {
      buffers.actual[below(sizeBytes)] ^= static_cast<std::byte>(1 << below(8));
      continue;
    }
    const uint64_t index = below(count);
    uint64_t bits = 0;
    memcpy(&bits, buffers.expected.data() + index * elementBytes, elementBytes);
    put(buffers.actual, index, kind == 1 ? oddBits(type) : kind == 2 ? bits + below(5) : random_());
  }
  return buffers;
}

inline double randomThreshold() {
  switch (below(6)) {
  case 0:
    return 0;
  case 1:
    return 1e-3;
  case 2:
    return static_cast<double>(below(100));
  case 3:
    return std::ldexp(static_cast<double>(1 + below(1000)), -static_cast<int>(below(20)));
  case 4:
    return below(2) ? std::numeric_limits<double>::infinity() : 1e300;
  default:
    return 0.5;
  }
}

inline CompareRequest randomRequest(const Buffers& buffers, DataType type, uint64_t shift) {
  CompareRequest request;
  request.actual = reinterpret_cast<uint64_t>(buffers.actual.data()) + shift;
  request.expected = reinterpret_cast<uint64_t>(buffers.expected.data()) + shift;
  request.sizeBytes = buffers.expected.size() - shift;
  request.type = type;
  request.norm = static_cast<Norm>(below(2) ? 0 : below(4));
  request.kind = static_cast<ThresholdKind>(below(request.norm == Norm::None ? 3 : 2));
  request.nan = static_cast<NanPolicy>(below(3));
  request.threshold = randomThreshold();
  return request;
}

/// `request` has addresses of the host.
inline void checkSame(const CompareRequest& request, const CompareReport& found) {
  const CompareReport host = compareOnHost(request);
  INFO("type " << nameOf(request.type) << " kind " << static_cast<int>(request.kind) << " norm "
               << static_cast<int>(request.norm) << " nan " << static_cast<int>(request.nan)
               << " threshold " << request.threshold << " size " << request.sizeBytes);
  REQUIRE(found.isExact == host.isExact);
  REQUIRE(found.isAccepted == host.isAccepted);
  REQUIRE(found.mismatchCount == host.mismatchCount);
  REQUIRE(found.differentCount == host.differentCount);
  REQUIRE(found.firstMismatch == host.firstMismatch);
  REQUIRE(found.firstExpectedBits == host.firstExpectedBits);
  REQUIRE(found.firstActualBits == host.firstActualBits);
  REQUIRE(found.maxAbsolute == host.maxAbsolute);
  REQUIRE(found.maxRelative == host.maxRelative);
  REQUIRE(found.maxUlp == host.maxUlp);
  if (std::isfinite(host.normValue))
    REQUIRE(found.normValue == doctest::Approx(host.normValue).epsilon(1e-9));
  else
    REQUIRE(std::isinf(found.normValue) == std::isinf(host.normValue));
}

inline DataType typeAt(uint64_t index) { return static_cast<DataType>(index % 14); }

} // namespace test
