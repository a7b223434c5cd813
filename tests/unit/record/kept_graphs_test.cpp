#include "runtime/recorder/kept_graphs.h"

#include <doctest/doctest.h>

#include <utility>

#include "tests/unit/record/fake_graphs.h"

using namespace mneme::record;
using fake::world;

namespace {

constexpr int kCopy = 1, kHost = 3;

using Places = std::vector<size_t>;

} // namespace

TEST_CASE("a sequence has the nodes of graphs in a graph, and none that is off") {
  world = {};
  fake::Graph graph;
  auto inner = std::make_unique<fake::Graph>();
  auto* fill = inner->add(2, {}, kCopy);
  inner->add(3, {fill});
  inner->add(4, {fill});
  auto* first = graph.add(1);
  auto* child = graph.addChild(std::move(inner), {first});
  auto* off = graph.add(5, {child});
  graph.add(6, {off}, kHost);
  ExecutableGraph exec(&graph, nullptr, 0, fake::functions(), {[](const void*) { return true; }});
  exec.setOff(off, true);
  const std::vector<SequenceNode> sequence = exec.sequence();
  std::vector<std::pair<int, Places>> found;
  for (const SequenceNode& node : sequence)
    found.emplace_back(static_cast<const fake::Node*>(node.node->handle)->number, node.after);
  const decltype(found) expected = {{1, {}}, {2, {0}}, {3, {1}}, {4, {1}}, {6, {2, 3}}};
  CHECK(found == expected);
  const std::vector<KeptNode> nodes = keptNodes(sequence);
  CHECK(nodes[1].kind == "memcpy");
  CHECK(nodes[4].kind == "host");
  CHECK(KeptGraph{nodes, {}}.kernelCount() == 3);
}

TEST_CASE("graphs are told apart by nodes, launches and order") {
  std::vector<KeptNode> nodes(2);
  nodes[0] = {"kernel", {}, "k", 7, 8, 0};
  nodes[1] = {"memset", {0}, "", 0, 0, 0};
  const uint64_t hash = graphHash(nodes);
  auto changed = nodes;
  changed[0].recordedNs = 5;
  CHECK(graphHash(changed) == hash);
  changed[0].dynamicHash = 9;
  CHECK(graphHash(changed) != hash);
  changed = nodes;
  changed[1].after.clear();
  CHECK(graphHash(changed) != hash);
  changed = nodes;
  changed[1].kind = "host";
  CHECK(graphHash(changed) != hash);
}

TEST_CASE("one launch of a graph is kept, with the times of its kernels") {
  KeptGraphs graphs;
  CHECK_FALSE(graphs.isDue(1, 1));
  CHECK(graphs.isDue(2, 0));
  CHECK(graphs.isDue(1, 1));
  CHECK_FALSE(graphs.isDue(1, 1));
  graphs.keep(1, {{{"kernel", {}, "k", 7, 8, 0}}, {"step"}});
  graphs.setTime(7, 9, 11);
  graphs.setTime(7, 8, 12);
  CHECK(graphs.all().at(1).nodes[0].recordedNs == 12);
}
