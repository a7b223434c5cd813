#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include <stdlib.h>

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"
#include "runtime/emulator/executor/cpu_memory.h"
#include "support.h"

using namespace mneme;
using namespace mneme::device;

namespace {

ErrorCode codeOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& failure) {
    return failure.code();
  }
  return ErrorCode::Ok;
}

/// A device with `bytes` of mapped memory.
struct Mapped {
  std::unique_ptr<Device> device = openDevice("cpu");
  uint64_t address;

  explicit Mapped(uint64_t bytes) : address(device->reserve(0, bytes)) {
    device->map(address, bytes);
  }
};

} // namespace

TEST_CASE("ranges merge, split and answer") {
  cpu::RangeSet set;
  set.add(10, 20);
  set.add(30, 40);
  CHECK(!set.contains(15, 35));
  CHECK(set.overlaps(19, 25));
  CHECK(!set.overlaps(20, 30));
  set.add(20, 30);
  CHECK(set.contains(10, 40));
  set.remove(15, 18);
  CHECK(set.contains(10, 15));
  CHECK(!set.contains(14, 16));
  CHECK(set.contains(18, 40));
  set.remove(0, 100);
  CHECK(!set.overlaps(0, 100));
}

TEST_CASE("memory is reserved at the wished address, mapped zeroed, and given back") {
  auto device = openDevice("cpu");
  const uint64_t size = 8 << 20;
  const uint64_t address = device->reserve(0, size);
  CHECK(address % device->granularity() == 0);
  CHECK(codeOf([&] { openDevice("cpu")->reserve(address, size); }) ==
        ErrorCode::AddressUnavailable);
  CHECK(codeOf([&] { device->map(address + size, size); }) == ErrorCode::OutOfRange);
  char byte = 1;
  CHECK(codeOf([&] { device->copyToHost(&byte, address, 1); }) == ErrorCode::DeviceFailed);
  device->map(address, 4 << 20);
  device->copyToHost(&byte, address + 100, 1);
  CHECK(byte == 0);
  byte = 7;
  device->copyToDevice(address, &byte, 1);
  device->unmap(address, 4 << 20);
  CHECK(codeOf([&] { device->copyToHost(&byte, address, 1); }) == ErrorCode::DeviceFailed);
  device->map(address, 4 << 20);
  device->copyToHost(&byte, address, 1);
  CHECK(byte == 0);
  device->release(address, size);
  CHECK(device->reserve(address, size) == address);
  CHECK(codeOf([&] { device->reserve(address + 5, 10); }) == ErrorCode::InvalidArgument);
  CHECK(codeOf([&] { device->reserve(0, 0); }) == ErrorCode::InvalidArgument);
}

TEST_CASE("bulk operations see every page") {
  const uint64_t size = 5 * 1000 * 1000 + 123, page = 4096;
  Mapped memory(16 << 20);
  const uint64_t first = memory.address, second = memory.address + (8 << 20);
  std::vector<unsigned char> data(size);
  std::mt19937 random(3);
  for (auto& value : data)
    value = static_cast<unsigned char>(random());
  memory.device->copyToDevice(first, data.data(), size);
  const CopyRange halves[] = {{second, first, size / 2},
                              {second + size / 2, first + size / 2, size - size / 2}};
  memory.device->restore(halves);
  CHECK(memory.device->diffPages(first, second, size, page).empty());
  const unsigned char changed = static_cast<unsigned char>(~data[size - 1]);
  memory.device->copyToDevice(second + size - 1, &changed, 1);
  const unsigned char changedFirst = static_cast<unsigned char>(~data[page * 7]);
  memory.device->copyToDevice(second + page * 7, &changedFirst, 1);
  const uint64_t pages = (size + page - 1) / page;
  CHECK(memory.device->diffPages(first, second, size, page) == std::vector<uint64_t>{7, pages - 1});
  std::vector<Hash128> hashes(pages);
  memory.device->hashPages(first, size, page, hashes);
  for (uint64_t i = 0; i < pages; ++i)
    REQUIRE(
        hashes[i] ==
        hash128(std::as_bytes(std::span(data)).subspan(i * page, std::min(page, size - i * page))));
  CompareRequest request;
  request.actual = second;
  request.expected = first;
  request.sizeBytes = size;
  const CompareRequest requests[] = {request, request};
  const auto reports = memory.device->compare(requests);
  REQUIRE(reports.size() == 2);
  CHECK(reports[1].mismatchCount == 2);
  CHECK(reports[1].firstMismatch == page * 7);
  CHECK(reports[1].firstActualBits == changedFirst);
}

TEST_CASE("large copies arrive whole at any alignment") {
  const uint64_t size = (70 << 20) + 77;
  Mapped memory(160 << 20);
  std::vector<uint64_t> data(size / 8 + 16);
  std::mt19937_64 random(5);
  for (auto& value : data)
    value = random();
  const auto* source = reinterpret_cast<const char*>(data.data()) + 3;
  memory.device->copyToDevice(memory.address + 13, source, size);
  const CopyRange range{memory.address + (80 << 20) + 1, memory.address + 13, size};
  memory.device->restore({&range, 1});
  std::vector<char> back(size + 1, 'x');
  memory.device->copyToHost(back.data(), range.destination, size);
  CHECK(memcmp(back.data(), source, size) == 0);
  CHECK(back[size] == 'x');
  char outside[2];
  memory.device->copyToHost(&outside[0], range.destination - 1, 1);
  memory.device->copyToHost(&outside[1], range.destination + size, 1);
  CHECK(outside[0] == 0);
  CHECK(outside[1] == 0);
}

TEST_CASE("parallel comparison equals the reference") {
  const uint64_t size = 6 << 20;
  Mapped memory(16 << 20);
  const uint64_t actual = memory.address, expected = memory.address + (8 << 20);
  std::vector<float> values(size / 4);
  std::iota(values.begin(), values.end(), 1.0f);
  memory.device->copyToDevice(expected, values.data(), size);
  for (size_t i = 1000; i < values.size(); i += 5000)
    values[i] += 3;
  memory.device->copyToDevice(actual, values.data(), size);
  for (Norm norm : {Norm::None, Norm::L1, Norm::L2, Norm::Linf}) {
    CompareRequest request;
    request.actual = actual;
    request.expected = expected;
    request.sizeBytes = size;
    request.type = DataType::F32;
    request.kind = ThresholdKind::Relative;
    request.threshold = 1e-4;
    request.norm = norm;
    const CompareReport reference = compareOnHost(request);
    const CompareReport found = memory.device->compare({&request, 1})[0];
    CHECK(found.isAccepted == reference.isAccepted);
    CHECK(found.mismatchCount == reference.mismatchCount);
    CHECK(found.firstMismatch == reference.firstMismatch);
    CHECK(found.maxRelative == reference.maxRelative);
    CHECK(found.normValue == doctest::Approx(reference.normValue));
  }
}

TEST_CASE("globals live where they are placed, the others are initialised") {
  Mapped memory(2 << 20);
  const GlobalPlacement placements[] = {{"counter", memory.address, 4}};
  const int start = 40;
  memory.device->copyToDevice(memory.address, &start, 4);
  auto module = memory.device->load(test::imageBytes("globals"), "globals", placements);
  REQUIRE(module->globals().size() == 3);
  CHECK(module->globals()[0].address == memory.address);
  CHECK(module->globals()[1].isConstant);
  CHECK(module->attributes().isWorkItemLoop);
  CHECK(module->attributes().constantBytes == 16);
  CHECK(module->argumentSizes() == std::vector<uint64_t>{8});
  int out[3] = {};
  int* outPointer = out;
  void* args[] = {&outPointer};
  memory.device->launch(*module, LaunchShape{}, args, 0);
  CHECK(out[0] == 40);
  CHECK(out[1] == 30);
  CHECK(out[2] == 40);
  int counter = 0;
  memory.device->copyToHost(&counter, memory.address, 4);
  CHECK(counter == 41);
  const GlobalPlacement nowhere[] = {{"counter", 0x1000, 4}};
  CHECK(codeOf([&] { memory.device->load(test::imageBytes("globals"), "globals", nowhere); }) ==
        ErrorCode::AddressUnavailable);
}

TEST_CASE("a failed launch throws the sentence, and the device goes on") {
  auto device = openDevice("cpu");
  auto module = device->load(test::imageBytes("loop"), "loop", {});
  std::vector<uint32_t> out(8);
  uint32_t* outPointer = out.data();
  uint32_t mode = 3;
  void* args[] = {&outPointer, &mode};
  CHECK_THROWS_WITH_AS(device->launch(*module, test::shapeOf(4, 2), args, 0),
                       doctest::Contains("executed a trap in block (2,0,0)"), Error);
  CHECK(device->isUsable());
  mode = 0;
  std::fill(out.begin(), out.end(), 0);
  CHECK(device->launch(*module, test::shapeOf(4, 2), args, 0) > 0);
  CHECK(out[7] == 21);
  CHECK(codeOf([&] { device->launch(*module, test::shapeOf(0, 2), args, 0); }) ==
        ErrorCode::InvalidArgument);
}

TEST_CASE("devices are listed with reasons and opened by id") {
  const auto devices = listDevices();
  REQUIRE(devices.size() >= 3);
  CHECK(devices[0].id == "cpu");
  CHECK(devices[0].isAvailable);
  for (const DeviceStatus& device : devices)
    CHECK(device.isAvailable == device.whyUnavailable.empty());
  CHECK(codeOf([] { openDevice("cuda:99"); }) == ErrorCode::BackendUnavailable);
  CHECK(codeOf([] { openDevice("hip"); }) == ErrorCode::BackendUnavailable);
  for (const char* id : {"gpu", "cpu:7", "cuda:", "cuda:x", "cuda:12345", ":0"})
    CHECK(codeOf([id] { openDevice(id); }) == ErrorCode::InvalidArgument);
  CHECK(openDevice("")->description().id == (devices[1].isAvailable ? "cuda:0" : "cpu"));
  setenv("MNEME_DEVICE", "cuda:99", 1);
  CHECK(codeOf([] { openDevice(""); }) == ErrorCode::BackendUnavailable);
  unsetenv("MNEME_DEVICE");
  CHECK(openDevice("cpu")->description().name.starts_with("CPU ("));
}
