// The bulk operations of a whole device (MNEME_TEST_DEVICE, else cuda:0), where it is there.
#include "compare_cases.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/devices/device.h"

using namespace mneme;
using namespace mneme::device;
using test::below;

namespace {

/// Nothing if there is no such device; says why.
std::unique_ptr<Device> openTested() {
  const char* wanted = getenv("MNEME_TEST_DEVICE");
  try {
    return openDevice(wanted && *wanted ? wanted : "cuda:0");
  } catch (const Error& error) {
    MESSAGE("skipped: " << error.what());
    return nullptr;
  }
}

bool isGpu(const Device& device) { return device.description().id != "cpu"; }

/// Device memory, given back at the end.
class Memory {
public:
  Memory(Device& device, uint64_t sizeBytes)
      : device_(device), sizeBytes_((sizeBytes + device.granularity() - 1) / device.granularity() *
                                    device.granularity()),
        address_(device.reserve(0, sizeBytes_)) {
    device_.map(address_, sizeBytes_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    device_.unmap(address_, sizeBytes_);
    device_.release(address_, sizeBytes_);
  }
  uint64_t at(uint64_t offset = 0) const { return address_ + offset; }
  void put(uint64_t offset, const std::vector<std::byte>& bytes) {
    device_.copyToDevice(at(offset), bytes.data(), bytes.size());
  }
  std::vector<std::byte> get(uint64_t offset, uint64_t sizeBytes) {
    std::vector<std::byte> bytes(sizeBytes);
    device_.copyToHost(bytes.data(), at(offset), sizeBytes);
    return bytes;
  }

private:
  Device& device_;
  uint64_t sizeBytes_, address_;
};

std::vector<std::byte> randomBytes(size_t size) {
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes)
    byte = static_cast<std::byte>(test::random_());
  return bytes;
}

} // namespace

TEST_CASE("a device hashes pages as the host does") {
  const auto device = openTested();
  if (!device)
    return;
  const auto bytes = randomBytes(3 << 20);
  Memory memory(*device, bytes.size());
  memory.put(0, bytes);
  for (int round = 0; round < 200; ++round) {
    const uint64_t offset = round % 3 ? below(64) : 16 * below(4);
    const uint64_t size = round < 60 ? 1 + below(300) : 1 + below(bytes.size() - 64);
    const uint64_t pageBytes = round % 4 == 0 ? 65536 : 64 + below(100000);
    std::vector<Hash128> hashes((size + pageBytes - 1) / pageBytes);
    device->hashPages(memory.at(offset), size, pageBytes, hashes);
    for (size_t page = 0; page < hashes.size(); ++page) {
      const uint64_t at = page * pageBytes;
      REQUIRE(hashes[page] ==
              hash128(std::span(bytes).subspan(offset + at, std::min(pageBytes, size - at))));
    }
  }
}

TEST_CASE("a device finds the pages that differ") {
  const auto device = openTested();
  if (!device)
    return;
  const auto bytes = randomBytes(2 << 20);
  Memory first(*device, bytes.size()), second(*device, bytes.size() + 64);
  first.put(0, bytes);
  for (int round = 0; round < 40; ++round) {
    auto copy = bytes;
    const uint64_t shift = round % 2 ? below(17) : 0;
    const uint64_t pageBytes = round % 3 == 0 ? 65536 : 1 + below(200000);
    std::vector<uint64_t> expected;
    for (uint64_t count = below(4); count-- > 0;)
      copy[below(copy.size())] ^= std::byte{4};
    if (below(2))
      copy.back() ^= std::byte{1};
    second.put(shift, copy);
    for (uint64_t at = 0; at < bytes.size(); at += pageBytes)
      if (memcmp(bytes.data() + at, copy.data() + at, std::min(pageBytes, bytes.size() - at)) != 0)
        expected.push_back(at / pageBytes);
    REQUIRE(device->diffPages(first.at(), second.at(shift), bytes.size(), pageBytes) == expected);
  }
}

TEST_CASE("a device restores ranges of any size and alignment") {
  const auto device = openTested();
  if (!device)
    return;
  const auto source = randomBytes(4 << 20), before = randomBytes(6 << 20);
  Memory from(*device, source.size()), to(*device, before.size());
  from.put(0, source);
  for (int round = 0; round < 20; ++round) {
    to.put(0, before);
    auto expected = before;
    std::vector<CopyRange> ranges;
    for (uint64_t at = 0; at < 4 << 20;) {
      const uint64_t size = below(4) == 0 ? below(1 << 20) : below(2) ? below(40) : below(9000);
      const uint64_t origin = below(2) ? at % 16 : below(3 << 20);
      ranges.push_back({to.at(at), from.at(origin), size});
      std::copy_n(source.begin() + origin, size, expected.begin() + at);
      at += size + below(50);
    }
    device->restore(ranges);
    REQUIRE(to.get(0, before.size()) == expected);
  }
}

TEST_CASE("a device reports comparisons as the host does") {
  const auto device = openTested();
  if (!device)
    return;
  constexpr uint64_t place = 256 << 10;
  constexpr uint64_t most = 64;
  Memory actual(*device, most * place), expected(*device, most * place);
  for (int round = 0; round < 40; ++round) {
    std::vector<test::Buffers> buffers;
    std::vector<CompareRequest> onHost, onDevice;
    for (uint64_t i = 0; i < 1 + below(most - 1); ++i)
      buffers.push_back(test::makeBuffers(
          test::typeAt(i + round), 16 + below(below(4) ? 300 : 200000), below(3) * below(40)));
    for (uint64_t i = 0; i < buffers.size(); ++i) {
      actual.put(i * place, buffers[i].actual);
      expected.put(i * place, buffers[i].expected);
      const uint64_t shift = below(2) ? 0 : below(16);
      onHost.push_back(test::randomRequest(buffers[i], test::typeAt(i + round), shift));
      onDevice.push_back(onHost.back());
      onDevice.back().actual = actual.at(i * place + shift);
      onDevice.back().expected = expected.at(i * place + shift);
    }
    const auto reports = device->compare(onDevice);
    REQUIRE(reports.size() == onHost.size());
    for (size_t i = 0; i < onHost.size(); ++i)
      test::checkSame(onHost[i], reports[i]);
  }
}

TEST_CASE("a device counts beyond 2^31 elements and bytes") {
  const auto device = openTested();
  if (!device)
    return;
  if (!isGpu(*device)) {
    MESSAGE("skipped: too slow without a GPU");
    return;
  }
  constexpr uint64_t size = (uint64_t{5} << 29) + 13; // 2.5 GiB
  Memory actual(*device, size), expected(*device, size);
  const std::vector<std::byte> one(1, std::byte{1});
  const uint64_t far = size - 2;
  actual.put(far, one);
  CompareRequest request;
  request.actual = actual.at();
  request.expected = expected.at();
  request.sizeBytes = size;
  CompareReport report = device->compare({&request, 1}).at(0);
  CHECK(report.mismatchCount == 1);
  CHECK(report.firstMismatch == far);
  CHECK(report.firstActualBits == 1);
  CHECK(device->diffPages(actual.at(), expected.at(), size, 65536) ==
        std::vector<uint64_t>{far / 65536});
  std::vector<Hash128> hashes((size + 65535) / 65536);
  device->hashPages(actual.at(), size, 65536, hashes);
  const auto last = actual.get(size / 65536 * 65536, size % 65536);
  CHECK(hashes.back() == hash128(last));
  CHECK(hashes[1] == hash128(actual.get(65536, 65536)));
  const CopyRange whole{actual.at(1), expected.at(1), size - 1};
  device->restore({&whole, 1});
  report = device->compare({&request, 1}).at(0);
  CHECK(report.isExact);
}
