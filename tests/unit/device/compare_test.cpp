#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "naive_compare.h"
#include "runtime/core/base/error.h"
#include "runtime/devices/compare.h"
#include "runtime/devices/compare_pieces.h"
#include "runtime/devices/element.h"

using namespace mneme::device;

namespace {

constexpr DataType allTypes[] = {DataType::U8,     DataType::I8,    DataType::U16, DataType::I16,
                                 DataType::U32,    DataType::I32,   DataType::U64, DataType::I64,
                                 DataType::F16,    DataType::F32,   DataType::F64, DataType::BF16,
                                 DataType::F8E4M3, DataType::F8E5M2};

CompareRequest requestOf(const std::vector<unsigned char>& actual,
                         const std::vector<unsigned char>& expected, DataType type) {
  CompareRequest request;
  request.actual = reinterpret_cast<uint64_t>(actual.data());
  request.expected = reinterpret_cast<uint64_t>(expected.data());
  request.sizeBytes = actual.size();
  request.type = type;
  return request;
}

template <typename T>
CompareReport compareOne(T actual, T expected, DataType type, ThresholdKind kind, double threshold,
                         NanPolicy nan = NanPolicy::Equal) {
  CompareRequest request;
  request.actual = reinterpret_cast<uint64_t>(&actual);
  request.expected = reinterpret_cast<uint64_t>(&expected);
  request.sizeBytes = sizeof(T);
  request.type = type;
  request.kind = kind;
  request.threshold = threshold;
  request.nan = nan;
  return compareOnHost(request);
}

void checkSame(const CompareReport& found, const CompareReport& naive) {
  REQUIRE(found.isExact == naive.isExact);
  REQUIRE(found.isAccepted == naive.isAccepted);
  REQUIRE(found.mismatchCount == naive.mismatchCount);
  REQUIRE(found.differentCount == naive.differentCount);
  REQUIRE(found.firstMismatch == naive.firstMismatch);
  REQUIRE(found.firstExpectedBits == naive.firstExpectedBits);
  REQUIRE(found.firstActualBits == naive.firstActualBits);
  REQUIRE(found.maxAbsolute == naive.maxAbsolute);
  REQUIRE(found.maxRelative == naive.maxRelative);
  REQUIRE(found.maxUlp == naive.maxUlp);
  if (std::isfinite(naive.normValue))
    REQUIRE(found.normValue == doctest::Approx(naive.normValue));
  else
    REQUIRE(!std::isfinite(found.normValue));
}

/// In pieces of about `pieceBytes`, without those that are the same, where these may be left out.
CompareReport compareByPieces(const CompareRequest& request, uint64_t pieceBytes) {
  const auto bytesOf = [&](uint64_t base, uint64_t begin, uint64_t end) {
    return std::span(reinterpret_cast<const std::byte*>(base) + begin, end - begin);
  };
  ComparisonByPieces comparison(request);
  const uint64_t step = (pieceBytes + 7) / 8 * 8;
  for (uint64_t begin = 0; begin < request.sizeBytes; begin += step) {
    const uint64_t end = std::min(begin + step, request.sizeBytes);
    const auto actual = bytesOf(request.actual, begin, end);
    const auto expected = bytesOf(request.expected, begin, end);
    if (!ComparisonByPieces::mayLeaveOutEqual(request) || !std::ranges::equal(actual, expected))
      comparison.add(begin, actual, expected);
  }
  return comparison.report();
}

} // namespace

TEST_CASE("comparison agrees with a naive one on random buffers") {
  std::mt19937_64 random(7);
  auto below = [&](uint64_t n) { return random() % n; };
  constexpr double thresholds[] = {0, 1e-6, 0.01, 1, 3, 100, 1e30};
  for (int round = 0; round < 4000; ++round) {
    std::vector<unsigned char> expected(below(4) == 0 ? below(40) : below(20000));
    for (auto& byte : expected)
      byte = static_cast<unsigned char>(below(3) == 0 ? 0xff : random());
    std::vector<unsigned char> actual = expected;
    const uint64_t changes = below(3) == 0 ? 0 : below(20);
    for (uint64_t i = 0; i < changes && !actual.empty(); ++i)
      actual[below(actual.size())] ^= static_cast<unsigned char>(1u << below(8));
    CompareRequest request = requestOf(actual, expected, allTypes[below(14)]);
    request.kind = static_cast<ThresholdKind>(below(3));
    request.norm = request.kind == ThresholdKind::Ulp ? Norm::None : static_cast<Norm>(below(4));
    request.nan = static_cast<NanPolicy>(below(3));
    request.threshold = thresholds[below(7)];
    CAPTURE(round);
    CAPTURE(std::string(nameOf(request.type)));
    CAPTURE(int(request.kind));
    CAPTURE(int(request.norm));
    CAPTURE(int(request.nan));
    CAPTURE(request.threshold);
    checkSame(compareOnHost(request), test::naiveCompare(request));
    checkSame(compareByPieces(request, below(9000) + 1), test::naiveCompare(request));
  }
}

TEST_CASE("small formats decode to the values of their standards") {
  CHECK(decode<DataType::F16>(0x3c00) == 1.0);
  CHECK(decode<DataType::F16>(0xc000) == -2.0);
  CHECK(decode<DataType::F16>(0x7bff) == 65504.0);
  CHECK(decode<DataType::F16>(0x0001) == std::ldexp(1.0, -24));
  CHECK(std::isinf(decode<DataType::F16>(0xfc00)));
  CHECK(std::isnan(decode<DataType::F16>(0x7e00)));
  CHECK(decode<DataType::BF16>(0x3f80) == 1.0);
  CHECK(decode<DataType::F8E4M3>(0x38) == 1.0);
  CHECK(decode<DataType::F8E4M3>(0x7e) == 448.0);
  CHECK(decode<DataType::F8E4M3>(0x01) == std::ldexp(1.0, -9));
  CHECK(std::isnan(decode<DataType::F8E4M3>(0xff)));
  CHECK(decode<DataType::F8E5M2>(0x3c) == 1.0);
  CHECK(decode<DataType::F8E5M2>(0x7b) == 57344.0);
  CHECK(std::isinf(decode<DataType::F8E5M2>(0x7c)));
  CHECK(std::isnan(decode<DataType::F8E5M2>(0x7d)));
}

TEST_CASE("float tolerance: absolute, relative, ULP") {
  CHECK(compareOne(1.0f, 1.5f, DataType::F32, ThresholdKind::Absolute, 0.5).isAccepted);
  CHECK(!compareOne(1.0f, 1.5f, DataType::F32, ThresholdKind::Absolute, 0.49).isAccepted);
  CHECK(compareOne(110.0, 100.0, DataType::F64, ThresholdKind::Relative, 0.1).isAccepted);
  CHECK(!compareOne(100.0, 80.0, DataType::F64, ThresholdKind::Relative, 0.1).isAccepted);
  const float next = std::nextafterf(1.0f, 2.0f);
  CHECK(compareOne(next, 1.0f, DataType::F32, ThresholdKind::Ulp, 1).isAccepted);
  CHECK(compareOne(next, 1.0f, DataType::F32, ThresholdKind::Ulp, 1).maxUlp == 1);
  CHECK(compareOne(-0.0f, 0.0f, DataType::F32, ThresholdKind::Ulp, 0.5).isAccepted);
  CHECK(!compareOne(-0.0f, 0.0f, DataType::F32, ThresholdKind::Absolute, 0).isAccepted);
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(compareOne(inf, inf, DataType::F64, ThresholdKind::Relative, 1).isAccepted);
  CHECK(!compareOne(1.0, inf, DataType::F64, ThresholdKind::Relative, 1).isAccepted);
  CHECK(!compareOne(inf, 1e308, DataType::F64, ThresholdKind::Ulp, 1e18).isAccepted);
}

TEST_CASE("NaN policies") {
  const double quiet = std::numeric_limits<double>::quiet_NaN();
  const double other = std::bit_cast<double>(0x7ff8000000000123u);
  const auto with = [](double a, double e, NanPolicy policy) {
    return compareOne(a, e, DataType::F64, ThresholdKind::Absolute, 1e300, policy).isAccepted;
  };
  CHECK(with(quiet, other, NanPolicy::Equal));
  CHECK(!with(quiet, other, NanPolicy::Bitwise));
  CHECK(with(quiet, quiet, NanPolicy::Bitwise));
  CHECK(!with(quiet, quiet, NanPolicy::Never));
  CHECK(!with(quiet, 1.0, NanPolicy::Equal));
  CHECK(compareOne(quiet, 1.0, DataType::F64, ThresholdKind::Ulp, 5).maxUlp ==
        std::numeric_limits<uint64_t>::max());
  CHECK(!compareOne(quiet, other, DataType::F64, ThresholdKind::Absolute, 0).isAccepted);
}

TEST_CASE("64-bit integers are compared without rounding") {
  const int64_t big = int64_t{1} << 62;
  CHECK(compareOne(big + 1, big, DataType::I64, ThresholdKind::Absolute, 1).isAccepted);
  CHECK(!compareOne(big + 2, big, DataType::I64, ThresholdKind::Absolute, 1).isAccepted);
  CHECK(!compareOne(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                    DataType::I64, ThresholdKind::Absolute, 1e18)
             .isAccepted);
}

TEST_CASE("impossible requests are refused") {
  CHECK_THROWS_AS(compareOne(1.0, 1.0, DataType::F64, ThresholdKind::Absolute, -1), mneme::Error);
  CHECK_THROWS_AS(compareOne(1.0, 1.0, DataType::F64, ThresholdKind::Absolute, NAN), mneme::Error);
  CompareRequest request;
  request.kind = ThresholdKind::Ulp;
  request.norm = Norm::L2;
  CHECK_THROWS_AS(compareOnHost(request), mneme::Error);
}

TEST_CASE("element types have names and values have text") {
  for (DataType type : allTypes)
    CHECK(parseDataType(nameOf(type)) == type);
  CHECK(parseDataType("Float") == DataType::F32);
  CHECK(parseDataType("size_t") == DataType::U64);
  CHECK_THROWS_WITH_AS(parseDataType("f33"), doctest::Contains("known types are u8"), mneme::Error);
  CHECK_THROWS_AS(parseDataType(""), mneme::Error);
  CHECK(formatElement(DataType::F32, 0x3f800000) == "0x3f800000 (1.0)");
  CHECK(formatElement(DataType::F64, std::bit_cast<uint64_t>(0.1)) == "0x3fb999999999999a (0.1)");
  CHECK(formatElement(DataType::I8, 0xff) == "0xff (-1)");
  CHECK(formatElement(DataType::U32, 7) == "0x00000007 (7)");
  CHECK(formatElement(DataType::F16, 0x7e00) == "0x7e00 (nan)");
}
