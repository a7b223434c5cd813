#include <doctest/doctest.h>

#include "runtime/recorder/deferred_frees.h"

namespace mneme::record::test {
namespace {

bool isStreamBusy = true;
size_t marks = 0;

class MarkingBackend final : public Backend {
public:
  std::string deviceName(int) const override { return ""; }
  std::span<const char* const> runtimeFiles() const noexcept override { return {}; }
  int currentDevice() noexcept override { return 0; }
  int synchronize() noexcept override { return 0; }
  std::unique_ptr<DeviceAccess> makeAccess(unsigned) override { return nullptr; }
  void prepareKernel(const KernelPlace&) noexcept override {}

  bool hasMarks() const noexcept override { return true; }
  void* markStream(void*) noexcept override {
    ++marks;
    return &marks;
  }
  bool waitOnStream(void*, void*) noexcept override { return canWait; }
  bool isMarkPassed(void*, bool shallWait) noexcept override {
    if (isStreamBusy && !shallWait)
      return false;
    --marks;
    return true;
  }

  bool canWait = true;
};

Memory::Options onHost() {
  Memory::Options options;
  options.makeBackend = [](unsigned) { return makeHostBackend(); };
  options.windowBytes = 4 << 20;
  return options;
}

void* stream(uintptr_t number) { return reinterpret_cast<void*>(number); }

} // namespace

TEST_CASE("memory freed in the order of a stream is free when its work is done") {
  MarkingBackend backend;
  Memory memory(onHost());
  DeferredFrees frees(backend, memory);
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
  MarkingBackend backend;
  Memory memory(onHost());
  DeferredFrees frees(backend, memory);
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
  MarkingBackend backend;
  Memory memory(onHost());
  DeferredFrees frees(backend, memory);
  isStreamBusy = true;
  void* first = memory.allocate(1000, artifact::RegionKind::Allocation, 0);
  frees.add(*memory.detach(first), stream(2));
  backend.canWait = false;
  CHECK(frees.reuse(1000, 0, stream(2)) == nullptr);
  backend.canWait = true;
  CHECK(frees.reuse(1000, 0, stream(2)) == first);
}

TEST_CASE("without marks the caller waits itself") {
  Memory memory(onHost());
  DeferredFrees frees(findBackend(), memory);
  void* first = memory.allocate(1000, artifact::RegionKind::Allocation, 0);
  CHECK_FALSE(frees.add(*memory.detach(first), stream(1)));
}

} // namespace mneme::record::test
