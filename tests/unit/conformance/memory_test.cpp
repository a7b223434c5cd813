#include "tests/unit/conformance/support.h"

using namespace conformance;

TEST_CASE("a device describes itself") {
  const mneme::device::Description& description = theDevice().description();
  CHECK_FALSE(description.id.empty());
  CHECK_FALSE(description.name.empty());
  CHECK_FALSE(description.target.empty());
  CHECK(description.totalMemoryBytes > 0);
  CHECK(description.multiprocessors > 0);
  CHECK((description.warpSize == 32 || (isForAmd(theDevice()) && description.warpSize == 64)));
  CHECK(description.maxThreadsPerBlock >= 1024);
  CHECK(description.maxSharedPerBlockOptinBytes >= description.maxSharedPerBlockBytes);
  const std::string timer = theDevice().timerName();
  CHECK((timer == "host clock" || timer == "events" || timer == "cupti" || timer == "dispatch"));
  CHECK(theDevice().isUsable());
  const std::optional<uint64_t> left = theDevice().memoryLeft();
  CHECK(left.value_or(1) > 0);
  CHECK(left.value_or(1) <= description.totalMemoryBytes);
}

TEST_CASE("addresses are reserved once, wherever they are, and are free again after that") {
  Device& device = theDevice();
  const uint64_t granule = device.granularity(), size = 4 * granule;
  const uint64_t anywhere = device.reserve(0, size), address = 0x600040000000;
  CHECK(anywhere % granule == 0);
  device.release(anywhere, size);
  CHECK(device.reserve(address, size) == address);
  CHECK(codeOf([&] { device.reserve(address, size); }) == ErrorCode::AddressUnavailable);
  CHECK(codeOf([&] { device.reserve(address + granule, granule); }) ==
        ErrorCode::AddressUnavailable);
  CHECK(codeOf([&] { device.reserve(address + 5, granule); }) != ErrorCode::Ok);
  device.release(address, size);
  CHECK(device.reserve(address, size) == address);
  device.release(address, size);
}

TEST_CASE("the places of recorded memory are granted") {
  Device& device = theDevice();
  for (const uint64_t address : {0x600000000000u, 0x610000000000u, 0x7e0000000000u}) {
    CAPTURE(address);
    // Only the window of the recorder has to be there; the others hold what may also move.
    if (address != 0x600000000000u && device.description().id != "cpu" &&
        codeOf([&] { Memory(8 << 20, address); }) == ErrorCode::AddressUnavailable) {
      MESSAGE("not granted: " << address);
      continue;
    }
    Memory memory(8 << 20, address);
    CHECK(memory.address() == address);
    memory.write<uint32_t>({1, 2, 3}, 4096);
    CHECK(memory.read<uint32_t>(3, 4096) == std::vector<uint32_t>{1, 2, 3});
  }
  // A window of addresses costs nothing until something is mapped.
  const uint64_t window = device.reserve(0x600000000000, 64ull << 30);
  CHECK(window == 0x600000000000);
  device.map(window + (32ull << 30), device.granularity());
  const uint32_t value = 9;
  device.copyToDevice(window + (32ull << 30) + 100, &value, 4);
  device.unmap(window + (32ull << 30), device.granularity());
  device.release(window, 64ull << 30);
}

TEST_CASE("mapped memory is zero, also the second time") {
  Device& device = theDevice();
  const uint64_t granule = device.granularity(), address = device.reserve(0, 2 * granule);
  for (int round = 0; round < 2; ++round) {
    device.map(address + granule, granule);
    std::vector<uint64_t> words(granule / 8);
    device.copyToHost(words.data(), address + granule, granule);
    CHECK(words == std::vector<uint64_t>(granule / 8));
    std::fill(words.begin(), words.end(), ~0ull);
    device.copyToDevice(address + granule, words.data(), granule);
    device.unmap(address + granule, granule);
  }
  device.release(address, 2 * granule);
}

TEST_CASE("what is not reserved cannot be mapped, what is not mapped cannot be copied") {
  Device& device = theDevice();
  const uint64_t granule = device.granularity(), address = device.reserve(0, 2 * granule);
  CHECK(codeOf([&] { device.map(address + 2 * granule, granule); }) != ErrorCode::Ok);
  char byte = 0;
  CHECK(codeOf([&] { device.copyToHost(&byte, address, 1); }) != ErrorCode::Ok);
  CHECK(codeOf([&] { device.copyToDevice(address, &byte, 1); }) != ErrorCode::Ok);
  device.release(address, 2 * granule);
  CHECK(device.isUsable());
}

TEST_CASE("more memory than there is runs out with a sentence") {
  Device& device = theDevice();
  if (device.description().id == "cpu")
    return; // memory of the host is promised, not granted
  const uint64_t size = device.description().totalMemoryBytes + (64ull << 30);
  const uint64_t whole = size / device.granularity() * device.granularity();
  const uint64_t address = device.reserve(0, whole);
  CHECK(codeOf([&] { device.map(address, whole); }) == ErrorCode::OutOfMemory);
  device.release(address, whole);
  CHECK(device.isUsable());
  CHECK_NOTHROW(Memory(1 << 20));
}

TEST_CASE("copies of odd sizes at odd places touch nothing else") {
  Memory memory(9 << 20);
  const std::vector<uint8_t> background(9 << 20, 0xcc);
  for (const size_t size : {1, 3, 17, 4095, 65537, (5 << 20) + 3})
    for (const size_t offset : {0, 1, 13, 4093}) {
      CAPTURE(size);
      CAPTURE(offset);
      memory.write(background);
      const std::vector<uint8_t> bytes = noise<uint8_t>(size, size + offset);
      memory.write(bytes, offset);
      CHECK(memory.read<uint8_t>(size, offset) == bytes);
      if (offset > 0)
        CHECK(memory.read<uint8_t>(1, offset - 1)[0] == 0xcc);
      CHECK(memory.read<uint8_t>(1, offset + size)[0] == 0xcc);
    }
  theDevice().copyToDevice(memory.address(), nullptr, 0);
}

TEST_CASE("copies from staging buffers go on while others are filled") {
  Device& device = theDevice();
  constexpr size_t kBytes = (1 << 20) + 40, kCopies = 9;
  Memory memory(kCopies * (2 << 20));
  std::unique_ptr<mneme::device::StagingBuffer> staging[3];
  uint64_t tickets[3] = {};
  for (auto& buffer : staging)
    buffer = device.makeStaging(kBytes);
  for (size_t i = 0; i < kCopies; ++i) {
    mneme::device::StagingBuffer& buffer = *staging[i % 3];
    if (i >= 3)
      device.waitForCopy(tickets[i % 3]);
    REQUIRE(buffer.bytes().size() >= kBytes);
    const std::vector<uint8_t> bytes = noise<uint8_t>(kBytes, i);
    std::memcpy(buffer.bytes().data(), bytes.data(), kBytes);
    tickets[i % 3] = device.startCopyToDevice(memory.address() + i * (2 << 20) + i, buffer, kBytes);
  }
  for (size_t i = 0; i < kCopies; ++i) // in order: these wait for the copies
    CHECK(memory.read<uint8_t>(kBytes, i * (2 << 20) + i) == noise<uint8_t>(kBytes, i));
  for (uint64_t ticket : tickets)
    device.waitForCopy(ticket);
}
