#include <doctest/doctest.h>

#include "runtime/record/deferred_frees.h"

namespace mneme::record::test {
namespace {

bool isStreamBusy = true;
size_t marks = 0;

Vendor vendorWithMarks() {
  Vendor vendor;
  vendor.markStream = [](void*) -> void* {
    ++marks;
    return &marks;
  };
  vendor.isMarkPassed = [](void*, bool shallWait) {
    if (isStreamBusy && !shallWait)
      return false;
    --marks;
    return true;
  };
  return vendor;
}

Memory::Options onHost() {
  Memory::Options options;
  options.makeBackend = [](unsigned) { return makeHostBackend(); };
  options.windowBytes = 4 << 20;
  return options;
}

void* stream(uintptr_t number) { return reinterpret_cast<void*>(number); }

} // namespace

TEST_CASE("memory freed in the order of a stream is free when its work is done") {
  const Vendor vendor = vendorWithMarks();
  Memory memory(onHost());
  DeferredFrees frees(vendor, memory);
  isStreamBusy = true;
  marks = 0;
  void* first = memory.allocate(1000, artifact::RegionKind::Allocation, 0);
  CHECK(frees.add(*memory.detach(first), stream(1)));
  frees.collect();
  CHECK(memory.allocate(1000, artifact::RegionKind::Allocation, 0) != first);
  isStreamBusy = false;
  frees.collect();
  CHECK(marks == 0);
  CHECK(memory.allocate(1000, artifact::RegionKind::Allocation, 0) == first);
}

TEST_CASE("work that comes later on the same stream has freed memory at once") {
  const Vendor vendor = vendorWithMarks();
  Memory memory(onHost());
  DeferredFrees frees(vendor, memory);
  isStreamBusy = true;
  marks = 0;
  void* first = memory.allocate(1000, artifact::RegionKind::Allocation, 0);
  frees.add(*memory.detach(first), stream(1));
  CHECK(frees.reuse(1000, 0, stream(2)) == nullptr);
  CHECK(frees.reuse(5000, 0, stream(1)) == nullptr);
  CHECK(frees.reuse(1000, 1, stream(1)) == nullptr);
  CHECK(frees.reuse(900, 0, stream(1)) == first);
  CHECK(memory.findExact(first)->sizeBytes == 900);
  CHECK(frees.reuse(900, 0, stream(1)) == nullptr);
  frees.add(*memory.detach(first), stream(1));
  frees.waitFor(0);
  isStreamBusy = false;
  frees.collect(); // the mark that was not needed
  CHECK(marks == 0);
  CHECK(memory.allocate(1000, artifact::RegionKind::Allocation, 0) == first);
}

TEST_CASE("a block is not had at once by a stream that cannot be made to wait for its free") {
  Vendor vendor = vendorWithMarks();
  static bool canWait;
  vendor.waitOnStream = [](void*, void*) { return canWait; };
  Memory memory(onHost());
  DeferredFrees frees(vendor, memory);
  isStreamBusy = true;
  void* first = memory.allocate(1000, artifact::RegionKind::Allocation, 0);
  frees.add(*memory.detach(first), stream(2));
  canWait = false;
  CHECK(frees.reuse(1000, 0, stream(2)) == nullptr);
  canWait = true;
  CHECK(frees.reuse(1000, 0, stream(2)) == first);
}

TEST_CASE("without marks the caller waits itself") {
  const Vendor vendor;
  Memory memory(onHost());
  DeferredFrees frees(vendor, memory);
  void* first = memory.allocate(1000, artifact::RegionKind::Allocation, 0);
  CHECK_FALSE(frees.add(*memory.detach(first), stream(1)));
}

} // namespace mneme::record::test
