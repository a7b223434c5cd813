#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "runtime/devices/cuda/cuda_bulk_code.h"
#include "runtime/devices/cuda/cuda_context.h"
#include "runtime/devices/gpu/queue_runner.h"
#include "support.h"

using namespace mneme;
using namespace mneme::device;
using test::Failing;
using test::failureOf;
using test::openFake;

namespace {

constexpr uint64_t mebibyte = 1 << 20;

std::vector<uint32_t> numbers(size_t count) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), 7u);
  return values;
}

/// A device with mapped memory.
struct Mapped {
  std::unique_ptr<Device> device = openFake();
  uint64_t address;
  explicit Mapped(uint64_t bytes) : address(device->reserve(0, bytes)) {
    device->map(address, bytes);
  }
};

} // namespace

TEST_CASE("the description says what the driver says") {
  const auto device = openFake();
  const Description& facts = device->description();
  CHECK(facts.id == "cuda:0");
  CHECK(facts.name == "Fake GPU 0");
  CHECK(facts.target == "sm_90");
  CHECK(facts.multiprocessors == 4);
  CHECK(facts.maxGrid[0] == 2147483647u);
  CHECK(facts.maxBlock[2] == 64);
  CHECK(facts.maxSharedPerBlockOptinBytes == 232448);
  CHECK(facts.maxClusterBlocks == 16);
  CHECK(facts.driver.starts_with("CUDA 13.0"));
  CHECK(std::string(device->timerName()) == "events");
  CHECK(!device->placesGlobalsOnLoad());
}

TEST_CASE("a GPU that is not there is named with how many there are") {
  test::openFakeDriver();
  const auto failure = failureOf([] { openDevice("cuda:5"); });
  CHECK(failure.code == ErrorCode::BackendUnavailable);
  CHECK(failure.says("there is no GPU number 5; this process sees 2"));
}

TEST_CASE("a GPU is described without being started") {
  test::openFakeDriver();
  const Failing failing("cuDevicePrimaryCtxRetain=2");
  CHECK(failureOf([] { openDevice("cuda:1"); }).says("starting GPU 1"));
  CHECK(describeDevice("cuda:1").name == "Fake GPU 1");
  CHECK(failureOf([] { describeDevice("cuda:5"); }).says("there is no GPU number 5"));
}

TEST_CASE("memory comes at the wished address, zeroed, and can come again") {
  const auto device = openFake();
  const uint64_t wished = 0x600000000000, size = 64 * mebibyte;
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(device->reserve(wished, size) == wished);
    device->map(wished + 4 * mebibyte, 3 * mebibyte);
    std::vector<std::byte> bytes(4096, std::byte{1});
    device->copyToHost(bytes.data(), wished + 4 * mebibyte, bytes.size());
    CHECK(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
    device->unmap(wished + 4 * mebibyte, 3 * mebibyte);
    device->release(wished, size);
  }
}

TEST_CASE("neighbours share a block of addresses, and memory spans both") {
  const auto device = openFake();
  const uint64_t first = 0x600000000000, size = 34 * mebibyte;
  CHECK(device->reserve(first, size) == first);
  CHECK(device->reserve(first + size, size) == first + size);
  device->map(first + 20 * mebibyte, 60 * mebibyte - 20 * mebibyte);
  const auto data = numbers(1000);
  device->copyToDevice(first + 59 * mebibyte, data.data(), 4000);
  std::vector<uint32_t> back(1000);
  device->copyToHost(back.data(), first + 59 * mebibyte, 4000);
  CHECK(back == data);
  device->unmap(first + 20 * mebibyte, 40 * mebibyte);
  device->release(first, size);
  device->release(first + size, size);
}

TEST_CASE("a block of addresses stays until its last user goes") {
  const auto device = openFake();
  const auto other = openFake();
  const uint64_t first = 0x610000000000, second = first + 8 * mebibyte, size = 4 * mebibyte;
  CHECK(device->reserve(first, size) == first);
  CHECK(device->reserve(second, size) == second);
  device->release(first, size);
  device->map(second, size);
  const auto data = numbers(1000);
  device->copyToDevice(second, data.data(), 4000);
  CHECK(failureOf([&] { other->reserve(first, size); }).code == ErrorCode::AddressUnavailable);
  CHECK(device->reserve(first, size) == first);
  std::vector<uint32_t> back(1000);
  device->copyToHost(back.data(), second, 4000);
  CHECK(back == data);
  device->unmap(second, size);
  device->release(first, size);
  device->release(second, size);
  CHECK(other->reserve(first, size) == first);
}

TEST_CASE("an address that is taken is refused, and nothing is kept") {
  const auto device = openFake();
  const auto other = openFake();
  CHECK(device->reserve(0x610000000000, mebibyte) == 0x610000000000);
  const auto failure = failureOf([&] { other->reserve(0x610000000000, mebibyte); });
  CHECK(failure.code == ErrorCode::AddressUnavailable);
  CHECK(failure.says("0x0000610000000000"));
  for (const uint64_t overlapping : {uint64_t{0x610000000000}, 0x610000000000 - 2 * mebibyte})
    CHECK(failureOf([&] { device->reserve(overlapping, 4 * mebibyte); }).code ==
          ErrorCode::AddressUnavailable);
  CHECK(failureOf([&] { device->reserve(0x620000001000, mebibyte); }).says("multiples of 2097152"));
  device->release(0x610000000000, mebibyte);
  CHECK(other->reserve(0x610000000000, mebibyte) == 0x610000000000);
}

TEST_CASE("a GPU without enough memory says how much it has") {
  const auto device = openFake();
  const uint64_t address = device->reserve(0, 4096 * mebibyte);
  const auto failure = failureOf([&] { device->map(address, 4096 * mebibyte); });
  CHECK(failure.code == ErrorCode::OutOfMemory);
  CHECK(failure.says("the GPU has no 4096 MiB of memory left: 1024 MiB of 1024 MiB are free"));
  CHECK(device->isUsable());
  device->map(address, 2 * mebibyte);
}

TEST_CASE("copies of every size arrive whole") {
  const uint64_t room = 200 * mebibyte;
  Mapped mapped(room);
  for (const size_t size :
       {size_t{1}, size_t{4097}, size_t{512 << 10}, size_t{3 << 20} | 5, size_t{70 << 20} | 3}) {
    std::vector<std::byte> sent(size), back(size);
    for (size_t i = 0; i < size; ++i)
      sent[i] = std::byte(i * 31 >> 7);
    mapped.device->copyToDevice(mapped.address + 1, sent.data(), size);
    mapped.device->copyToHost(back.data(), mapped.address + 1, size);
    CHECK(std::memcmp(sent.data(), back.data(), size) == 0);
  }
}

TEST_CASE("memory that cannot be pinned makes copies slower, not impossible") {
  Mapped mapped(8 * mebibyte);
  const Failing failing("cuMemHostAlloc=2");
  const auto sent = numbers(1 << 20);
  std::vector<uint32_t> back(sent.size());
  mapped.device->copyToDevice(mapped.address, sent.data(), sent.size() * 4);
  mapped.device->copyToHost(back.data(), mapped.address, sent.size() * 4);
  CHECK(sent == back);
  CHECK(failureOf([&] { mapped.device->makeStaging(4096); }).code == ErrorCode::OutOfMemory);
}

TEST_CASE("staged copies finish in any order of waiting") {
  Mapped mapped(8 * mebibyte);
  std::unique_ptr<StagingBuffer> buffers[3];
  uint64_t tickets[3];
  for (int i = 0; i < 3; ++i) {
    buffers[i] = mapped.device->makeStaging(mebibyte);
    std::memset(buffers[i]->bytes().data(), i + 1, mebibyte);
    tickets[i] =
        mapped.device->startCopyToDevice(mapped.address + i * mebibyte, *buffers[i], mebibyte - i);
  }
  mapped.device->waitForCopy(tickets[1]);
  mapped.device->waitForCopy(tickets[0]);
  mapped.device->waitForCopy(tickets[2]);
  std::vector<char> back(3 * mebibyte);
  mapped.device->copyToHost(back.data(), mapped.address, back.size());
  CHECK(back[0] == 1);
  CHECK(back[mebibyte] == 2);
  CHECK(back[3 * mebibyte - 3] == 3);
  CHECK(back[3 * mebibyte - 1] == 0);
  CHECK(failureOf([&] {
          mapped.device->startCopyToDevice(mapped.address, *buffers[0], 2 * mebibyte);
        }).code == ErrorCode::InvalidArgument);
}

TEST_CASE("access to reserved memory without anything behind it is refused") {
  Mapped mapped(4 * mebibyte);
  const uint64_t hole = mapped.device->reserve(0, 16 * mebibyte);
  char byte = 0;
  CHECK(failureOf([&] { mapped.device->copyToHost(&byte, hole, 1); }).code ==
        ErrorCode::OutOfRange);
  const CopyRange range{mapped.address, hole, 100};
  CHECK(failureOf([&] { mapped.device->restore({&range, 1}); }).says("is not mapped"));
  CHECK(mapped.device->isUsable());
}

TEST_CASE("what the bulk operations' runner copies is as it was when it was asked to") {
  Mapped mapped(8 * mebibyte);
  cuda::Context context(0);
  const auto scope = context.use();
  gpu::QueueRunner runner(context.driver(), cuda::bulkCode(), context.stream(), 4);
  std::vector<uint32_t> sent = numbers(25000);
  for (size_t turn = 0; turn < 8; ++turn) { // more than fits into its pinned memory
    runner.copyToDevice(mapped.address + turn * 100000, sent.data(), 100000);
    std::fill(sent.begin(), sent.end(), static_cast<uint32_t>(turn));
  }
  runner.clear(mapped.address + 100000, 4);
  runner.copyOnDevice(mapped.address + 4 * mebibyte, mapped.address, 800000);
  std::vector<uint32_t> back(200000);
  runner.copyToHost(back.data(), mapped.address + 4 * mebibyte, 800000);
  CHECK(std::equal(back.begin(), back.begin() + 25000, numbers(25000).begin()));
  CHECK(back[25000] == 0);
  for (size_t turn = 1; turn < 8; ++turn)
    CHECK(back[turn * 25000 + 1] == turn - 1);
  const uint64_t scratch = runner.scratch(100);
  CHECK(runner.scratch(1 << 20) == scratch);
  CHECK(runner.scratch(64 << 20) != 0);
}

TEST_CASE("limits of a recorded program are raised, and never lowered") {
  const auto device = openFake();
  const auto stack = [] {
    size_t bytes = 0;
    cuda::Driver::get().cuCtxGetLimit(&bytes, cuda::CU_LIMIT_STACK_SIZE);
    return bytes;
  };
  device->raiseLimits({.stackBytes = 4096});
  CHECK(stack() == 4096);
  device->raiseLimits({.stackBytes = 2048});
  device->raiseLimits({});
  CHECK(stack() == 4096);
  const Failing failing("cuCtxSetLimit=1");
  device->raiseLimits({.stackBytes = 8192}); // refused, which is logged
  CHECK(stack() == 4096);
}

TEST_CASE("an error that takes the context is remembered") {
  Mapped mapped(8 * mebibyte);
  char byte = 0;
  {
    const Failing failing("cuStreamSynchronize=719");
    CHECK(failureOf([&] { mapped.device->copyToHost(&byte, mapped.address, 1); }).code ==
          ErrorCode::DeviceFailed);
  }
  CHECK(!mapped.device->isUsable());
  CHECK(failureOf([&] {
          mapped.device->copyToHost(&byte, mapped.address, 1);
        }).says("continue in a fresh process"));
}
