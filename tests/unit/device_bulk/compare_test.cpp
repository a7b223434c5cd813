// The fused comparison against compareOnHost.
#include "cpu_runner.h"

#include <cmath>
#include <limits>
#include <random>

#include "runtime/device/compare.h"

using namespace mneme::device;

namespace {

std::mt19937_64 random_(21);

uint64_t below(uint64_t limit) { return random_() % limit; }

/// Bits around which things go wrong: zeros, one, subnormals, the largest, infinity, NaNs.
uint64_t oddBits(DataType type) {
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
Buffers makeBuffers(DataType type, uint64_t sizeBytes, uint64_t changes) {
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

double randomThreshold() {
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

CompareRequest randomRequest(const Buffers& buffers, DataType type, uint64_t shift) {
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

void checkSame(const CompareRequest& request, const CompareReport& found) {
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

DataType typeAt(uint64_t index) { return static_cast<DataType>(index % 14); }

} // namespace

TEST_CASE("reports are those of the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  for (int round = 0; round < 30; ++round) {
    std::vector<Buffers> buffers;
    std::vector<CompareRequest> requests;
    const uint64_t count = 1 + below(28);
    for (uint64_t i = 0; i < count; ++i)
      buffers.push_back(
          makeBuffers(typeAt(i + round), 16 + below(below(4) ? 300 : 60000), below(3) * below(40)));
    for (uint64_t i = 0; i < count; ++i)
      requests.push_back(randomRequest(buffers[i], typeAt(i + round), below(2) ? 0 : below(16)));
    const auto reports = bulk.compare(requests);
    REQUIRE(reports.size() == count);
    for (uint64_t i = 0; i < count; ++i)
      checkSame(requests[i], reports[i]);
  }
}

TEST_CASE("buffers that differ everywhere are reported as on the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  for (uint64_t type = 0; type < 14; ++type) {
    Buffers buffers = makeBuffers(typeAt(type), 20003, 0);
    for (auto& byte : buffers.actual)
      byte = static_cast<std::byte>(random_());
    std::vector<CompareRequest> requests;
    for (int i = 0; i < 12; ++i)
      requests.push_back(randomRequest(buffers, typeAt(type), i));
    const auto reports = bulk.compare(requests);
    for (size_t i = 0; i < requests.size(); ++i)
      checkSame(requests[i], reports[i]);
  }
}

TEST_CASE("norms of doubles whose squares overflow or vanish") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  for (double scale : {1e300, 1e200, 1.0, 1e-200, 1e-320}) {
    std::vector<double> actual(5000), expected(5000);
    for (size_t i = 0; i < actual.size(); ++i) {
      expected[i] = scale * (i % 7);
      actual[i] = scale * (i % 5);
    }
    std::vector<CompareRequest> requests;
    for (int norm = 1; norm <= 3; ++norm)
      for (double threshold : {0.5, 0.9, 2.0}) {
        CompareRequest request;
        request.actual = reinterpret_cast<uint64_t>(actual.data());
        request.expected = reinterpret_cast<uint64_t>(expected.data());
        request.sizeBytes = actual.size() * 8;
        request.type = DataType::F64;
        request.kind = ThresholdKind::Relative;
        request.norm = static_cast<Norm>(norm);
        request.threshold = threshold;
        requests.push_back(request);
      }
    const auto reports = bulk.compare(requests);
    for (size_t i = 0; i < requests.size(); ++i)
      checkSame(requests[i], reports[i]);
  }
}

TEST_CASE("a request with many groups of tiles is added up whole") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  Buffers buffers = makeBuffers(DataType::F32, (9 << 20) + 3, 0);
  for (uint64_t at : {uint64_t{5} << 20, (uint64_t{9} << 20) + 1})
    buffers.actual[at] ^= std::byte{1};
  for (Norm norm : {Norm::None, Norm::L2}) {
    CompareRequest request = randomRequest(buffers, DataType::F32, 0);
    request.norm = norm;
    request.kind = ThresholdKind::Relative;
    request.threshold = 1e-9;
    checkSame(request, bulk.compare({&request, 1}).at(0));
  }
}

TEST_CASE("impossible tolerances are refused as on the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  CompareRequest request;
  request.threshold = -1;
  CHECK_THROWS(bulk.compare({&request, 1}));
}
