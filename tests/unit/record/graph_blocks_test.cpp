#include <doctest/doctest.h>

#include "runtime/recorder/graph_blocks.h"

namespace mneme::record::test {
namespace {

class IdleBackend final : public Backend {
public:
  std::string deviceName(int) const override { return ""; }
  std::span<const char* const> runtimeFiles() const noexcept override { return {}; }
  int currentDevice() noexcept override { return 0; }
  int synchronize() noexcept override { return 0; }
  std::optional<int> synchronizeWithin(unsigned, const Patience&) noexcept override {
    return isIdle ? std::optional(0) : std::nullopt;
  }
  std::unique_ptr<DeviceAccess> makeAccess(unsigned) override { return nullptr; }
  void prepareKernel(const KernelPlace&) noexcept override {}

  bool isIdle = true;
};

Memory::Options onHost() {
  Memory::Options options;
  options.makeBackend = [](unsigned) { return makeHostBackend(); };
  options.windowBytes = 4 << 20;
  return options;
}

void* handle(uintptr_t number) { return reinterpret_cast<void*>(number); }

constexpr size_t kFreeBytes = 1 << 20;

struct Fixture {
  IdleBackend backend;
  Memory memory{onHost()};
  GraphBlocks blocks{backend, memory};
  void* const graph = handle(100);
  void* const exec = handle(200);
  uintptr_t lastNode = 1000;

  GraphBlocks::Block take(size_t bytes = 1000, std::unordered_set<const void*> ancestors = {}) {
    return blocks.take(graph, bytes, 0, kFreeBytes, [&] { return ancestors; });
  }
  void* add(const GraphBlocks::Block& block, bool isFree, const void* stream = nullptr) {
    void* const node = handle(++lastNode);
    blocks.add(graph, node, {.isFree = isFree, .block = block, .params = {}}, stream);
    return node;
  }
  int launch(int status = 0) {
    return blocks.launch(exec, [&] {
      listed = memory.regions(WorkPlace()).size();
      return status;
    });
  }
  size_t listedNow() const { return memory.regions(WorkPlace()).size(); }
  static void* at(const GraphBlocks::Block& block) { return handle(block->allocation.address); }

  size_t listed = 0; ///< during the latest launch
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "memory of a graph is an allocation while the graph runs") {
  const auto block = take();
  add(block, false);
  add(block, true);
  CHECK(blocks.isFreedIn(graph, block));
  blocks.execMade(exec, graph, false);
  CHECK(listedNow() == 0);
  for (int round = 0; round < 2; ++round) {
    CHECK(launch() == 0);
    CHECK(listed == 1);
    CHECK(listedNow() == 0);
  }
  CHECK(!blocks.release(at(block))); // only the graph frees it
}

TEST_CASE_FIXTURE(Fixture, "memory that a launch leaves lives until it is freed") {
  auto block = take();
  void* const pointer = at(block);
  add(block, false);
  blocks.execMade(exec, graph, false);
  CHECK(launch() == 0);
  CHECK(listedNow() == 1);
  CHECK(launch() != 0); // it lives
  CHECK(blocks.release(pointer));
  CHECK(!blocks.release(pointer));
  CHECK(launch(7) == 7); // the vendor refuses, and nothing has changed
  CHECK(listedNow() == 0);
  CHECK(launch() == 0);
  blocks.execEnds(exec);
  blocks.graphEnds(graph);
  block = nullptr;
  CHECK(blocks.find(pointer)); // it outlives its graph
  CHECK(blocks.release(pointer));
  CHECK(!blocks.find(pointer));
}

TEST_CASE_FIXTURE(Fixture,
                  "memory that a launch leaves is freed by the next one if that was asked") {
  add(take(), false);
  blocks.execMade(exec, graph, true);
  CHECK(launch() == 0);
  CHECK(launch() == 0);
  CHECK(listedNow() == 1);
}

TEST_CASE_FIXTURE(Fixture, "another graph frees it") {
  const auto block = take();
  add(block, false);
  blocks.execMade(exec, graph, false);
  blocks.add(handle(101), handle(1), {.isFree = true, .block = block, .params = {}});
  blocks.execMade(handle(201), handle(101), false);
  for (int round = 0; round < 2; ++round) {
    CHECK(launch() == 0);
    CHECK(listedNow() == 1);
    CHECK(blocks.launch(handle(201), [] { return 0; }) == 0);
    CHECK(listedNow() == 0);
    CHECK(blocks.launch(handle(201), [] { return 0; }) != 0); // there is nothing to free
  }
}

TEST_CASE_FIXTURE(Fixture, "memory of another graph is not taken again where it is freed") {
  const auto block = take();
  add(block, false);
  blocks.execMade(exec, graph, false);
  void* const other = handle(101);
  const void* const freed = handle(1);
  blocks.add(other, handle(1), {.isFree = true, .block = block, .params = {}});
  const auto mine = blocks.take(other, 1000, 0, kFreeBytes,
                                [&] { return std::unordered_set<const void*>{freed}; });
  CHECK(mine != block);
  blocks.add(other, handle(2), {.isFree = false, .block = mine, .params = {}});
  blocks.execMade(handle(201), other, false);
  CHECK(launch() == 0);
  CHECK(blocks.launch(handle(201), [] { return 0; }) == 0);
  CHECK(launch() == 0); // while the other graph's own lives
  CHECK(listedNow() == 2);
}

TEST_CASE_FIXTURE(Fixture, "a runnable graph that is updated runs what another graph has") {
  auto block = take();
  void* const pointer = at(block);
  add(block, false);
  add(block, true);
  blocks.execMade(exec, graph, false);
  blocks.graphEnds(graph);
  block = take(2000);
  blocks.add(handle(101), handle(1), {.isFree = false, .block = block, .params = {}});
  blocks.execUpdated(exec, handle(101));
  CHECK(!blocks.find(pointer));
  CHECK(launch() == 0);
  CHECK(listedNow() == 1);
  CHECK(blocks.release(at(block)));
}

TEST_CASE_FIXTURE(Fixture, "what a node has freed is taken again behind it") {
  const auto block = take();
  add(block, false);
  const void* const freed = add(block, true);
  CHECK(take() != block); // not behind it
  CHECK(take(100, {freed}) != block);
  CHECK(take(2000, {freed}) != block);
  CHECK(take(800, {freed}) == block);
  CHECK(take(800, {freed}) != block); // only once
}

TEST_CASE_FIXTURE(Fixture, "memory goes back once no graph has it and the device is idle") {
  auto block = take();
  void* const pointer = at(block);
  add(block, false);
  add(block, true);
  blocks.execMade(exec, graph, false);
  block = nullptr;
  blocks.graphEnds(graph);
  CHECK(blocks.find(pointer)); // it is runnable
  backend.isIdle = false;
  blocks.execEnds(exec);
  CHECK(!blocks.find(pointer));
  CHECK(memory.allocate(1000, artifact::RegionKind::Allocation, 0) != pointer);
  backend.isIdle = true;
  blocks.collect();
  CHECK(memory.allocate(1000, artifact::RegionKind::Allocation, 0) == pointer);
}

TEST_CASE_FIXTURE(Fixture, "the program keeps most of the device's memory") {
  CHECK(!take(kFreeBytes));
  const auto first = take(kFreeBytes / 4);
  CHECK(first);
  CHECK(!take(kFreeBytes / 4));
}

TEST_CASE_FIXTURE(Fixture, "a capture that fails takes its nodes along") {
  auto block = take();
  void* const pointer = at(block);
  const void* const node = add(block, false, handle(1));
  block = nullptr;
  CHECK(blocks.nodeOf(node));
  CHECK(blocks.hasNodes(graph));
  blocks.captureEnds(handle(1), nullptr, false);
  CHECK(!blocks.nodeOf(node));
  CHECK(!blocks.hasNodes(graph));
  CHECK(!blocks.find(pointer));

  add(take(), false, handle(1));
  blocks.captureEnds(handle(1), graph, true);
  blocks.captureEnds(handle(1), nullptr, true); // another one
  CHECK(blocks.hasNodes(graph));
  const void* const last = add(take(), false, handle(2));
  blocks.captureEnds(handle(3), nullptr, true); // which had gone on in the second stream
  CHECK(!blocks.nodeOf(last));
}

TEST_CASE_FIXTURE(Fixture, "a capture that fails leaves what its graph had before") {
  const auto block = take();
  const void* const node = add(block, false);
  const void* const captured = add(take(), false, handle(1));
  const void* const freed = add(block, true, handle(1));
  blocks.captureEnds(handle(1), nullptr, true);
  CHECK(blocks.nodeOf(node));
  CHECK(!blocks.nodeOf(captured));
  CHECK(!blocks.nodeOf(freed));
  CHECK(!blocks.isFreedIn(graph, block));
  CHECK(take(1000, {freed}) != block);

  const void* const kept = add(take(), false, handle(1));
  blocks.captureEnds(handle(1), graph, true);
  add(take(), false, handle(1));
  blocks.captureEnds(handle(1), nullptr, true);
  CHECK(blocks.nodeOf(kept));
}

TEST_CASE_FIXTURE(Fixture, "one graph with memory is runnable once") {
  add(take(), false);
  CHECK(!blocks.isInstantiated(graph));
  blocks.execMade(exec, graph, false);
  CHECK(blocks.isInstantiated(graph));
  CHECK(blocks.isOf(exec));
  blocks.execEnds(exec);
  CHECK(!blocks.isInstantiated(graph));
  CHECK(!blocks.isOf(exec));
  blocks.execMade(exec, graph, false);
  blocks.graphEnds(graph);
  add(take(), false); // another graph with the same handle
  CHECK(!blocks.isInstantiated(graph));
}

TEST_CASE_FIXTURE(Fixture, "a graph that becomes a part of another one takes its memory along") {
  add(take(), false);
  blocks.graphMoves(graph, handle(101));
  CHECK(!blocks.hasNodes(graph));
  blocks.execMade(exec, handle(101), false);
  CHECK(launch() == 0);
  CHECK(listed == 1);
}

TEST_CASE_FIXTURE(Fixture, "a node keeps a list of its own of who may use its memory") {
  std::vector<MemoryAccess> access{{1, 0, 3}, {1, 1, 3}};
  AllocParams params{};
  params.access = access.data();
  params.accessCount = access.size();
  blocks.add(graph, handle(1), {.block = take(), .params = params});
  access.assign(2, {});
  const AllocParams kept = blocks.nodeOf(handle(1))->params;
  CHECK(kept.access != access.data());
  CHECK(kept.accessCount == 2);
  CHECK(kept.access[1].locationId == 1); // as long as the node lives
}

TEST_CASE_FIXTURE(Fixture, "a reset ends everything on the device") {
  const auto block = take();
  const void* const node = add(block, false);
  blocks.execMade(exec, graph, false);
  CHECK(launch() == 0);
  blocks.forgetDevice(0);
  memory.reset(0);
  CHECK(!blocks.nodeOf(node));
  CHECK(!blocks.find(at(block)));
  CHECK(!blocks.isOf(exec));
}

} // namespace mneme::record::test
