#include "tests/unit/conformance/support.h"

#include <cmath>

#include "runtime/devices/element.h"

using namespace conformance;
using namespace mneme::device;

namespace {

constexpr uint64_t kPage = 64 * 1024;

/// Two buffers of the device and their twins on the host.
struct Pair {
  explicit Pair(size_t sizeBytes)
      : actual(noise<uint8_t>(sizeBytes, 3)), expected(actual), onDevice(2 * roomFor(sizeBytes)),
        second(roomFor(sizeBytes)) {}
  static uint64_t roomFor(size_t sizeBytes) { return (sizeBytes + (2 << 20)) / 512 * 512; }

  /// Compares [offset, offset + size) on the device and on the host.
  std::pair<CompareReport, CompareReport> compare(CompareRequest request, uint64_t offset,
                                                  uint64_t size) {
    onDevice.write(actual);
    onDevice.write(expected, second);
    request.sizeBytes = size;
    request.actual = onDevice.address() + offset;
    request.expected = onDevice.address() + second + offset;
    const CompareReport got = theDevice().compare({&request, 1}).front();
    request.actual = reinterpret_cast<uint64_t>(actual.data() + offset);
    request.expected = reinterpret_cast<uint64_t>(expected.data() + offset);
    return {got, compareOnHost(request)};
  }

  std::vector<uint8_t> actual, expected;
  Memory onDevice;
  uint64_t second;
};

void checkClose(double got, double wanted) {
  if (std::isfinite(wanted))
    CHECK(got == doctest::Approx(wanted).epsilon(1e-9));
  else
    CHECK(std::isinf(got) == std::isinf(wanted));
}

void checkSame(const CompareReport& got, const CompareReport& wanted) {
  CHECK(got.isExact == wanted.isExact);
  CHECK(got.isAccepted == wanted.isAccepted);
  CHECK(got.mismatchCount == wanted.mismatchCount);
  CHECK(got.differentCount == wanted.differentCount);
  if (wanted.mismatchCount > 0) {
    CHECK(got.firstMismatch == wanted.firstMismatch);
    CHECK(got.firstExpectedBits == wanted.firstExpectedBits);
    CHECK(got.firstActualBits == wanted.firstActualBits);
  }
  CHECK(got.maxUlp == wanted.maxUlp);
  checkClose(got.maxAbsolute, wanted.maxAbsolute);
  checkClose(got.maxRelative, wanted.maxRelative);
  checkClose(got.normValue, wanted.normValue);
}

} // namespace

TEST_CASE("page hashes are those of the host") {
  Memory memory(6 << 20);
  const std::vector<uint8_t> bytes = noise<uint8_t>(6 << 20);
  memory.write(bytes);
  for (const uint64_t size :
       {1ull, 7ull, 240ull, 241ull, 4096ull, 65535ull, 65536ull, 65537ull, (5ull << 20) + 77})
    for (const uint64_t offset : {0ull, 1ull, 16ull, 100ull}) {
      CAPTURE(size);
      CAPTURE(offset);
      std::vector<mneme::Hash128> hashes((size + kPage - 1) / kPage);
      theDevice().hashPages(memory.address() + offset, size, kPage, hashes);
      for (size_t page = 0; page < hashes.size(); ++page) {
        const uint64_t begin = offset + page * kPage;
        const uint64_t length = std::min(kPage, offset + size - begin);
        CHECK(hashes[page] ==
              mneme::hash128(std::as_bytes(std::span(bytes).subspan(begin, length))));
      }
    }
}

TEST_CASE("differing pages are found") {
  Memory first(4 << 20), second(4 << 20);
  const size_t size = 50 * kPage + 123;
  std::vector<uint8_t> bytes = noise<uint8_t>(size);
  first.write(bytes);
  second.write(bytes);
  const auto differences = [&] {
    return theDevice().diffPages(first.address(), second.address(), size, kPage);
  };
  CHECK(differences().empty());
  for (const size_t at : {size_t{0}, 3 * kPage + 65535, 7 * kPage, size - 1})
    bytes[at] ^= 1;
  second.write(bytes);
  CHECK(differences() == std::vector<uint64_t>{0, 3, 7, 50});
}

TEST_CASE("ranges are restored, large and small, aligned or not, and nothing else") {
  constexpr uint64_t kBytes = 6 << 20;
  Memory golden(kBytes), live(kBytes);
  const std::vector<uint8_t> bytes = noise<uint8_t>(kBytes, 5), other = noise<uint8_t>(kBytes, 6);
  golden.write(bytes);
  std::vector<CopyRange> ranges;
  std::vector<uint8_t> wanted = other;
  const auto add = [&](uint64_t to, uint64_t from, uint64_t size) {
    ranges.push_back({live.address() + to, golden.address() + from, size});
    std::copy_n(bytes.begin() + from, size, wanted.begin() + to);
  };
  add(0, 0, 1);
  add(3, 4, 5);
  add(100, 101, 4099);
  add(1 << 20, 1 << 20, 3 << 20);
  add((4 << 20) + 1, (4 << 20) + 7, 65536);
  for (uint64_t i = 0; i < 500; ++i)
    add((5 << 20) + 100 * i, (5 << 20) + 100 * i, 1 + i % 90);
  live.write(other);
  theDevice().restore(ranges);
  CHECK(live.read<uint8_t>(kBytes) == wanted);
  const auto prepared = theDevice().prepareRestore(ranges);
  for (int round = 0; round < 3; ++round) {
    live.write(other);
    prepared->run();
    CHECK(live.read<uint8_t>(kBytes) == wanted);
  }
  theDevice().restore({});
  theDevice().prepareRestore({})->run();
}

TEST_CASE("comparisons are those of the host, for every type and kind of tolerance") {
  Pair pair(300'000);
  for (size_t i = 1000; i < pair.actual.size(); i += 997)
    pair.actual[i] ^= static_cast<uint8_t>(1 + i % 7);
  for (int type = 0; type <= static_cast<int>(DataType::F8E5M2); ++type)
    for (const ThresholdKind kind :
         {ThresholdKind::Absolute, ThresholdKind::Relative, ThresholdKind::Ulp})
      for (const double threshold : {0.0, 1e-3, 4.0})
        for (const NanPolicy nan : {NanPolicy::Equal, NanPolicy::Bitwise, NanPolicy::Never}) {
          const CompareRequest request{.type = static_cast<DataType>(type),
                                       .kind = kind,
                                       .nan = nan,
                                       .threshold = threshold};
          CAPTURE(nameOf(request.type));
          CAPTURE(static_cast<int>(kind));
          CAPTURE(threshold);
          const auto [got, wanted] = pair.compare(request, 0, pair.actual.size() - 3);
          checkSame(got, wanted);
        }
}

TEST_CASE("norms are those of the host") {
  Pair pair(400'000);
  auto* actual = reinterpret_cast<float*>(pair.actual.data());
  auto* expected = reinterpret_cast<float*>(pair.expected.data());
  for (size_t i = 0; i < 100'000; ++i) {
    expected[i] = std::sin(static_cast<float>(i)) * 100;
    actual[i] = expected[i] + (i % 17 == 0 ? 1e-3f : 0.0f);
  }
  for (const Norm norm : {Norm::L1, Norm::L2, Norm::Linf})
    for (const ThresholdKind kind : {ThresholdKind::Absolute, ThresholdKind::Relative})
      for (const double threshold : {1e-9, 1e-5, 1e-2, 10.0}) {
        CAPTURE(static_cast<int>(norm));
        CAPTURE(threshold);
        const auto [got, wanted] = pair.compare(
            {.type = DataType::F32, .kind = kind, .norm = norm, .threshold = threshold}, 0,
            400'000);
        checkSame(got, wanted);
      }
}

TEST_CASE("one changed bit is found wherever it is") {
  Pair pair((2 << 20) + 13);
  for (const size_t at : {size_t{0}, size_t{1}, size_t{65535}, size_t{1 << 20}, size_t{2 << 20},
                          pair.actual.size() - 1}) {
    CAPTURE(at);
    pair.actual[at] ^= 0x10;
    const auto [got, wanted] = pair.compare({}, 0, pair.actual.size());
    checkSame(got, wanted);
    CHECK(got.firstMismatch == at);
    CHECK(got.mismatchCount == 1);
    pair.actual[at] ^= 0x10;
  }
  const auto [got, wanted] = pair.compare({}, 1, pair.actual.size() - 1);
  CHECK(got.isExact);
}

TEST_CASE("many buffers are compared in one call") {
  Pair pair(1 << 20);
  pair.actual[500'000] ^= 1;
  pair.onDevice.write(pair.actual);
  pair.onDevice.write(pair.expected, pair.second);
  std::vector<CompareRequest> requests;
  for (uint64_t i = 0; i < 1000; ++i)
    requests.push_back({.actual = pair.onDevice.address() + i * 1000,
                        .expected = pair.onDevice.address() + pair.second + i * 1000,
                        .sizeBytes = i % 1001});
  const std::vector<CompareReport> reports = theDevice().compare(requests);
  REQUIRE(reports.size() == requests.size());
  for (size_t i = 0; i < reports.size(); ++i)
    CHECK(reports[i].isExact == (i != 500));
  CHECK(reports[500].firstMismatch == 0);
  CHECK(theDevice().compare({}).empty());
}

TEST_CASE("flushing caches changes nothing") {
  Memory memory(1 << 20);
  const std::vector<uint8_t> bytes = noise<uint8_t>(1 << 20);
  memory.write(bytes);
  theDevice().flushCaches();
  CHECK(memory.read<uint8_t>(1 << 20) == bytes);
}
