#include <doctest/doctest.h>

#include "support.h"

using namespace test;

namespace {

/// A node with a launch of "k" on GPU 0.
fake::GraphNode node(unsigned grid = 5, unsigned block = 64) {
  fake::GraphNode made{};
  made.kernel.gridDimX = grid;
  made.kernel.blockDimX = block;
  made.kernel.sharedMemBytes = 256;
  made.kernel.ctx = fake::primaryOf(0);
  return made;
}

jit::ExecutableGraph theGraph() { return {.exec = &application(), .graph = &application().graph}; }

std::vector<jit::GraphKernel> kernelsIn(jit::Backend& backend) {
  std::vector<jit::GraphKernel> all;
  backend.visitKernels(theGraph(), [&](const jit::GraphKernel& one) { all.push_back(one); });
  return all;
}

} // namespace

TEST_CASE("launches on streams that are captured are told, but for the legacy one") {
  const auto backend = start();
  void* const stream = reinterpret_cast<void*>(16);
  CHECK_FALSE(backend->isCaptured(plainLaunch(stream)));
  application().isCapturing = true;
  CHECK(backend->isCaptured(plainLaunch(stream)));
  CHECK_FALSE(backend->isCaptured(plainLaunch()));
  mneme_launch perThread = plainLaunch();
  perThread.vendorEntry = reinterpret_cast<void*>(&cudaLaunchKernel_ptsz);
  CHECK(backend->isCaptured(perThread));
}

TEST_CASE("a graph's kernels are those of graphs in it, too, as the program wrote them") {
  const auto backend = start();
  auto& graph = application().graph;
  graph = {node(5), node(6)};
  graph[1].child = {node(7), node(8, 32)};
  void* arguments[] = {&graph};
  graph[0].kernel.kernelParams = arguments;
  graph[1].child[0].cooperative.cooperative = 1;
  graph[1].child[1].cluster.clusterDim = {2, 1, 1};
  const auto found = kernelsIn(*backend);
  REQUIRE(found.size() == 3);
  CHECK(found[0].handle == &kHandle);
  CHECK(found[0].dims == tuned::Dims{{5, 1, 1}, {64, 1, 1}});
  CHECK(found[0].sharedBytes == 256);
  CHECK(found[0].args == arguments);
  CHECK(found[0].mayReshape);
  CHECK(found[1].dims.grid.x == 7);
  CHECK_FALSE(found[1].mayReshape);
  CHECK(found[2].dims.block.x == 32);
  CHECK_FALSE(found[2].mayReshape);
}

TEST_CASE("kernels nobody here knows, or that somebody else may change, are left alone") {
  const auto backend = start();
  auto& graph = application().graph;
  graph = {node(kForeignGrid), node(), node(), node()};
  graph[1].kernel.ctx = fake::primaryOf(1);
  graph[2].updatable.cooperative = 1; // its first number
  void* packed[] = {nullptr};
  graph[3].kernel.extra = packed;
  CHECK(kernelsIn(*backend).empty());
  CHECK(program().lastError == 0);
  graph = {node()};
  CHECK(kernelsIn(*backend).size() == 1);
  application().graphFlags = 4; // kernels may launch it
  CHECK(kernelsIn(*backend).empty());
}

TEST_CASE("an update by another graph than it was made from leaves an executable graph alone") {
  const auto backend = start();
  application().graph = {node()};
  const auto countAfter = [&](void* exec, bool isUpdate) {
    size_t count = 0;
    backend->visitKernels({.exec = exec, .graph = &application().graph, .isUpdate = isUpdate},
                          [&](const jit::GraphKernel&) { ++count; });
    return count;
  };
  std::vector<fake::GraphNode> other = {node()};
  int exec = 0, unseen = 0;
  backend->visitKernels({.exec = &exec, .graph = &other}, [](const jit::GraphKernel&) {});
  CHECK(countAfter(&exec, true) == 0);
  CHECK(countAfter(&unseen, true) == 1); // perhaps it is its graph
  CHECK(countAfter(&exec, false) == 1);
  CHECK(countAfter(&exec, true) == 1);
}

TEST_CASE("a tuned kernel takes a place in the executable graph alone") {
  const auto backend = start();
  const auto kernel = Image().load(*backend);
  application().graph = {node()};
  const auto found = kernelsIn(*backend);
  REQUIRE(found.size() == 1);
  CHECK(backend->replaceIn(theGraph(), found[0], *kernel, {{10, 1, 1}, {32, 1, 1}}));
  REQUIRE(application().replaced.size() == 1);
  const auto& [place, params] = application().replaced[0];
  CHECK(place == reinterpret_cast<CUgraphNode>(&application().graph[0]));
  CHECK(reinterpret_cast<fake::Function*>(params.func)->name == "k");
  CHECK(params.gridDimX == 10);
  CHECK(params.blockDimX == 32);
  CHECK(params.sharedMemBytes == 256);
  CHECK(application().graph[0].kernel.gridDimX == 5);
}

TEST_CASE(
    "a place is not taken where a launch would not run the kernel, or with copies before it") {
  const auto backend = start();
  application().graph = {node()};
  auto found = kernelsIn(*backend);
  REQUIRE(found.size() == 1);
  const tuned::Dims dims = found[0].dims;
  const auto kernel = Image().load(*backend);
  found[0].sharedBytes = 100 << 10;
  CHECK_FALSE(backend->replaceIn(theGraph(), found[0], *kernel, dims));
  program().maxDynamicShared = 128 << 10;
  CHECK(backend->replaceIn(theGraph(), found[0], *kernel, dims));

  Image image;
  static const char shadow = 0;
  image.variable("factor", 4).globals = {{"factor", 4, 4, true, true}};
  image.entries = {{&shadow, "factor", 4, 1, 0}};
  program().shadows[&shadow] = 0x9000;
  const auto withConstants = image.load(*backend);
  CHECK_FALSE(backend->replaceIn(theGraph(), found[0], *withConstants, dims));
}
