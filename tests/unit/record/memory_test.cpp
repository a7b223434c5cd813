#include <doctest/doctest.h>

#include "runtime/recorder/device_memory.h"
#include "runtime/recorder/served_memory.h"

namespace mneme::record::test {
namespace {

using artifact::RegionKind;

Memory::Options onHost(uint64_t windowBytes) {
  Memory::Options options;
  options.makeBackend = [](unsigned) { return makeHostBackend(); };
  options.windowBytes = windowBytes;
  return options;
}

uint64_t address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

} // namespace

TEST_CASE("live allocations are regions until they are freed") {
  Memory memory(onHost(64 << 20));
  void* first = memory.allocate(1000, RegionKind::Allocation, 0);
  void* second = memory.allocate(2000, RegionKind::Managed, 0);
  REQUIRE(first);
  const auto regions = memory.regions(0);
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].address == address(first));
  CHECK(regions[0].sizeBytes == 1000);
  CHECK(regions[1].kind == RegionKind::Managed);
  CHECK(memory.release(first));
  CHECK_FALSE(memory.release(first));
  CHECK(memory.regions(0).size() == 1);
  CHECK(memory.findExact(second)->sizeBytes == 2000);
  CHECK_FALSE(memory.findExact(static_cast<char*>(second) + 1));
  CHECK(memory.window(0).sizeBytes == 64 << 20);
}

TEST_CASE("an address inside an allocation finds it, one beside it none") {
  Memory memory(onHost(64 << 20));
  auto* first = static_cast<char*>(memory.allocate(1000, RegionKind::Allocation, 0));
  auto* second = static_cast<char*>(memory.allocate(5000, RegionKind::Allocation, 0));
  for (const char* inside : {first, first + 999, second, second + 4999})
    CHECK(memory.findServed(inside)->address ==
          reinterpret_cast<uint64_t>(inside < second ? first : second));
  CHECK(!memory.findServed(first + 1000));
  CHECK(!memory.findServed(first - 1));
  CHECK(!memory.findServed(second + 5000));
  memory.release(first);
  CHECK(!memory.findServed(first));
  int vendors = 0;
  memory.noteForeign(&vendors, sizeof vendors);
  CHECK(!memory.findServed(&vendors));
}

TEST_CASE("another device's memory is captured only when the kernel is given it") {
  Memory memory(onHost(64 << 20));
  void* far = memory.allocate(1000, RegionKind::Allocation, 1);
  REQUIRE(far);
  CHECK(memory.regions(0).empty());
  CHECK(memory.regions(1).size() == 1);
  CHECK(memory.reachable(0, {}).empty());
  CHECK(memory.reachable(0, {address(far) + 10}).size() == 1);
  CHECK(memory.reachable(0, {address(far) + 1000}).empty());
  memory.share(1, 0);
  CHECK(memory.reachable(0, {}).size() == 1); // pointers in memory may lead there now
}

TEST_CASE("registered host memory is captured only when the kernel is given it") {
  Memory memory(onHost(64 << 20));
  char buffer[100];
  memory.noteRegistered(buffer, sizeof(buffer));
  CHECK(memory.regions(0).empty());
  CHECK(memory.reachable(0, {}).size() == 1);
  CHECK_FALSE(memory.release(buffer));
  memory.forget(buffer);
  CHECK(memory.reachable(0, {}).empty());
}

TEST_CASE("while the vendor's own allocations live nothing can be captured") {
  Memory memory(onHost(4 << 20));
  CHECK(memory.allocate(8 << 20, RegionKind::Allocation, 0) == nullptr);
  CHECK(memory.whyNotCapturable().empty());
  int foreign = 0;
  memory.noteForeign(&foreign, 8 << 20);
  CHECK(memory.whyNotCapturable().find("raise -vass") != std::string::npos);
  memory.forget(&foreign);
  CHECK(memory.whyNotCapturable().empty());
}

TEST_CASE("where the vendor's allocations can be captured they are regions like others") {
  Memory::Options options = onHost(4 << 20);
  options.makeBackend = nullptr;
  options.capturesVendors = true;
  Memory memory(std::move(options));
  CHECK(memory.allocate(8, RegionKind::Allocation, 0) == nullptr);
  int device = 0, managed = 0, pinned = 0;
  memory.noteForeign(&device, 4, RegionKind::Allocation, 0);
  memory.noteForeign(&managed, 4, RegionKind::Managed, 0);
  memory.noteForeign(&pinned, 4, RegionKind::HostPinned, 0);
  CHECK(memory.whyNotCapturable().empty());
  CHECK(memory.hasForeign());
  CHECK(memory.regions(0).size() == 2);
  CHECK(memory.regions(1).size() == 1); // managed memory is everybody's
  CHECK(memory.reachable(0, {}).size() == 1);
  CHECK_FALSE(memory.release(&device)); // not ours to free
  memory.forget(&device);
  CHECK_FALSE(memory.hasForeign());
}

TEST_CASE("memory of a context of the program's own belongs to launches there, and ends with it") {
  Memory::Options options = onHost(4 << 20);
  options.capturesVendors = true;
  Memory memory(std::move(options));
  int context = 0, primary = 0, own = 0, pinned = 0;
  memory.noteForeign(&primary, 4);
  CHECK(memory.hasForeign());
  memory.forget(&primary);
  memory.noteForeign(&own, 4, RegionKind::Allocation, {0, &context});
  memory.noteRegistered(&pinned, 4, {0, &context});
  CHECK_FALSE(memory.hasForeign()); // no window could serve it
  CHECK(memory.regions(0).empty());
  CHECK(memory.regions({0, &context}).size() == 1);
  CHECK(memory.reachable(0, {}).size() == 1); // host memory
  CHECK(memory.reachable(0, {reinterpret_cast<uint64_t>(&own)}).size() == 2);
  CHECK(memory.reset(0).empty());
  memory.forgetContext(&primary);
  CHECK(memory.isInAllocation(reinterpret_cast<uint64_t>(&own)));
  memory.forgetContext(&context);
  CHECK_FALSE(memory.isInAllocation(reinterpret_cast<uint64_t>(&own)));
  CHECK(memory.reachable(0, {}).empty());
}

TEST_CASE("a detached block is nobody's until it is given back or attached again") {
  Memory memory(onHost(4 << 20));
  void* first = memory.allocate(1000, RegionKind::Allocation, 0);
  const auto detached = memory.detach(first);
  REQUIRE(detached);
  CHECK(memory.regions(0).empty());
  CHECK_FALSE(memory.release(first)); // freed once already
  CHECK(memory.allocate(1000, RegionKind::Allocation, 0) != first);
  CHECK(memory.attachAgain(*detached, 900) == first);
  CHECK(memory.findExact(first)->sizeBytes == 900);
  memory.giveBack(*memory.detach(first));
  CHECK(memory.allocate(1000, RegionKind::Allocation, 0) == first);
}

TEST_CASE("annotations belong to the start of an allocation and die with it") {
  Memory memory(onHost(4 << 20));
  void* buffer = memory.allocate(1000, RegionKind::Allocation, 0);
  artifact::Annotation annotation;
  annotation.isSet = true;
  annotation.threshold = 0.5;
  annotation.tag = "field";
  CHECK_FALSE(memory.annotate(static_cast<char*>(buffer) + 8, annotation));
  CHECK(memory.annotate(buffer, annotation));
  CHECK(memory.annotationOf(buffer)->tag == "field");
  CHECK(memory.regions(0).at(0).annotation.threshold == 0.5);
  memory.annotate(buffer, {});
  CHECK(memory.annotationOf(buffer) == nullptr);
  memory.annotate(buffer, annotation);
  memory.release(buffer);
  CHECK(memory.allocate(1000, RegionKind::Allocation, 0) == buffer);
  CHECK(memory.annotationOf(buffer) == nullptr);
}

TEST_CASE("a reset device has no allocations") {
  Memory memory(onHost(4 << 20));
  memory.allocate(1000, RegionKind::Allocation, 0);
  memory.allocate(1000, RegionKind::HostPinned, 0);
  memory.noteForeign(&memory, 1);
  CHECK(memory.reset(0).size() == 3);
  CHECK(memory.regions(0).empty());
  CHECK(memory.whyNotCapturable().empty());
  CHECK(memory.allocate(4 << 20, RegionKind::Allocation, 0) != nullptr);
}

TEST_CASE("pitched sizes round rows up and refuse what does not fit") {
  size_t row = 0, bytes = 0;
  CHECK(pitchedSize(100, 7, 3, 512, row, bytes));
  CHECK(row == 512);
  CHECK(bytes == 512 * 21);
  CHECK_FALSE(pitchedSize(0, 7, 3, 512, row, bytes));
  CHECK_FALSE(pitchedSize(100, 0, 3, 512, row, bytes));
  CHECK_FALSE(pitchedSize(~size_t{0}, 1, 1, 512, row, bytes));
  CHECK_FALSE(pitchedSize(1, ~size_t{0}, 2, 512, row, bytes));
  CHECK_FALSE(pitchedSize(1, size_t{1} << 60, 1, 512, row, bytes));
}

} // namespace mneme::record::test
