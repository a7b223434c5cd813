#include "runtime/recorder/executable_graph.h"
#include "runtime/recorder/graph_bodies.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/core/base/error.h"
#include "tests/unit/record/fake_graphs.h"

using namespace mneme::record;
using fake::world;

namespace {

constexpr int kCopy = 1, kHost = 3, kAlloc = 10, kConditional = 13;
constexpr unsigned long long kDeviceLaunch = 4;

/// What a launch in parts runs, one list for each part; the kernels with these numbers are wanted.
std::vector<std::vector<int>> inParts(const ExecutableGraph& graph,
                                      const std::vector<int>& wanted) {
  for (GraphNode* node : graph.kernels()) {
    const auto number = static_cast<const fake::Node*>(node->handle)->number;
    node->isWanted = std::ranges::find(wanted, number) != wanted.end();
  }
  std::vector<std::vector<int>> parts;
  for (RunnablePart& part : graph.cut()) {
    world.ran.clear();
    CHECK(part.launch(nullptr) == 0);
    parts.push_back(world.ran);
    CHECK((part.kernel != nullptr) ==
          (world.ran.size() == 1 && std::ranges::find(wanted, world.ran[0]) != wanted.end()));
  }
  return parts;
}

using Parts = std::vector<std::vector<int>>;

const auto any = [](const void*) { return true; };

int renumber(void* node, int number) {
  static_cast<fake::Node*>(node)->number = number;
  return 0;
}

} // namespace

TEST_CASE("a wanted kernel is a part of its own, and what is between two of them is one part") {
  world = {};
  {
    fake::Graph graph;
    auto* first = graph.add(1, {}, kCopy);
    auto* left = graph.add(2, {first});
    auto* right = graph.add(3, {first});
    auto* copy = graph.add(4, {right}, kCopy);
    graph.add(5, {left, copy});
    ExecutableGraph exec(&graph, nullptr, 0, fake::functions(), {any});
    CHECK(exec.kernels().size() == 3);
    CHECK(inParts(exec, {}) == Parts{{1, 2, 3, 4, 5}});
    CHECK(inParts(exec, {2}) == Parts{{1}, {2}, {3, 4, 5}});
    CHECK(inParts(exec, {2, 5}) == Parts{{1}, {2}, {3, 4}, {5}});
    CHECK(world.execs == 0);
  }
  CHECK(world.copies.empty());
}

TEST_CASE("nodes keep their names when they change, and when the whole graph does") {
  world = {};
  fake::Graph graph, other, shorter;
  auto* first = graph.add(1);
  auto* second = graph.add(2, {first});
  ExecutableGraph exec(&graph, nullptr, 0, fake::functions(), {any});
  exec.changeNode(second, [](void* node) { return renumber(node, 7); });
  CHECK(second->number == 2);
  CHECK(inParts(exec, {7}) == Parts{{1}, {7}});
  exec.setOff(first, true);
  other.add(20, {other.add(10)});
  exec.update(&other);
  CHECK(inParts(exec, {20}) == Parts{{}, {20}});
  exec.setOff(first, false);
  exec.changeNode(first, [](void* node) { return renumber(node, 8); });
  CHECK(inParts(exec, {8}) == Parts{{8}, {20}});
  CHECK(other.nodes[0]->number == 10);
  shorter.add(1);
  CHECK_THROWS_AS(exec.update(&shorter), mneme::Error);
  CHECK(inParts(exec, {8}) == Parts{{8}, {20}});
}

TEST_CASE("a node of a graph that was updated is known where its edges say which it is") {
  world = {};
  fake::Graph graph, other;
  auto* left = graph.add(1);
  auto* right = graph.add(2);
  graph.add(3, {left, right});
  auto *laterRight = other.add(20), *laterLeft = other.add(10);
  other.add(30, {laterLeft, laterRight});
  ExecutableGraph exec(&graph, nullptr, 0, fake::functions(), {any}),
      off(&graph, nullptr, 0, fake::functions(), {any});
  exec.update(&other);
  CHECK(inParts(exec, {30}) == Parts{{20, 10}, {30}});
  exec.changeNode(left, [](void* node) { return renumber(node, 11); });
  CHECK(exec.whyNot());
  off.setOff(left, true);
  off.update(&other);
  CHECK(off.whyNot());
}

TEST_CASE("graphs in graphs are cut where they hold something wanted, changed or switched off") {
  world = {};
  fake::Graph graph;
  auto inner = std::make_unique<fake::Graph>();
  auto* in = inner->add(2);
  inner->add(3, {in});
  auto* before = graph.add(1);
  auto* nested = graph.addChild(std::move(inner), {before});
  graph.add(4, {nested});
  {
    ExecutableGraph exec(&graph, nullptr, 0, fake::functions(), {any});
    CHECK(inParts(exec, {1}) == Parts{{1}, {2, 3, 4}});
    CHECK(inParts(exec, {3}) == Parts{{1}, {2}, {3}, {4}});
    exec.setOff(in, true);
    CHECK(inParts(exec, {}) == Parts{{1}, {3}, {4}});
    exec.setOff(in, false);
    exec.changeNode(in, [](void* node) { return renumber(node, 9); });
    CHECK(inParts(exec, {4}) == Parts{{1, 9, 3}, {4}});
    fake::Graph other;
    other.add(6, {other.add(5)});
    exec.setChild(nested, &other);
    CHECK(inParts(exec, {}) == Parts{{1}, {5, 6}, {4}});
    CHECK(!exec.whyNot());
  }
  CHECK(world.copies.empty());
  CHECK(world.execs == 0);
}

TEST_CASE("graphs that cannot be launched in parts say why, and tell their kernels") {
  // A graph in a graph is copied with that.
  bool rebuilds = false;
  SUBCASE("") {}
  SUBCASE("of a vendor whose graphs can be made node by node") { rebuilds = true; }
  const auto& functions = rebuilds ? fake::functionsThatRebuild() : fake::functions();
  world = {};
  fake::Graph graph;
  auto inner = std::make_unique<fake::Graph>();
  inner->add(1);
  auto* special = inner->add(2, {}, kAlloc);
  graph.addChild(std::move(inner));
  CHECK(std::string(ExecutableGraph(&graph, nullptr, 0, functions, {any}).whyNot()) ==
        "it allocates or frees memory");
  CHECK(ExecutableGraph(&graph, nullptr, 0, functions, {any}).unreadable().size() == 1);
  special->kind = kConditional;
  CHECK(std::string(ExecutableGraph(&graph, nullptr, 0, functions, {any}).whyNot()) ==
        "it has conditional nodes");
  CHECK(ExecutableGraph(&graph, nullptr, 0, functions, {any}).inBodies().empty());
  fake::Graph body, deeper;
  auto* more = body.add(3, {body.add(2)}, kConditional);
  deeper.add(4);
  void* const bodies[] = {&body};
  void* const deeperBodies[] = {&deeper};
  noteBodies(&graph, special, bodies);
  noteBodies(&body, more, deeperBodies);
  CHECK(isBody(&deeper));
  CHECK(!isBody(&graph));
  CHECK(ExecutableGraph(&graph, nullptr, 0, functions, {any}).unreadable().size() == 1);
  CHECK(ExecutableGraph(&graph, nullptr, 0, functions, {any}).inBodies().size() == 2);
  int parent = 0;
  bodiesMove(&graph, &parent);
  forgetBodies(&graph); // another graph with its handle
  CHECK(isBody(&deeper));
  forgetBodies(&parent);
  CHECK(!isBody(&body));
  CHECK(!isBody(&deeper));
  CHECK(bodiesOf(more).empty());
  noteBodies(&graph, special, bodies);
  forgetBodiesOf(special);
  CHECK(!isBody(&body));
  special->kind = kCopy;
  CHECK(std::string(ExecutableGraph(&graph, nullptr, kDeviceLaunch, functions, {any}).whyNot()) ==
        "kernels may launch it");
  CHECK(!ExecutableGraph(&graph, nullptr, 0, functions, {any}).whyNot());
  auto* changed = graph.add(-1);
  CHECK(std::string(ExecutableGraph(&graph, nullptr, 0, functions, {any}).whyNot()) ==
        "kernels may change it");
  changed->number = 1;
  world.refusesCopies = true;
  CHECK_THROWS_AS(ExecutableGraph(&graph, nullptr, 0, functions, {any}), mneme::Error);
}

TEST_CASE("a graph that was changed in an unknown way is not launched in parts") {
  world = {};
  fake::Graph graph, stranger;
  auto* node = graph.add(1);
  auto* unknown = stranger.add(2);
  ExecutableGraph one(&graph, nullptr, 0, fake::functions(), {any}),
      two(&graph, nullptr, 0, fake::functions(), {any});
  one.changeNode(unknown, [](void*) { return 0; });
  CHECK(one.whyNot());
  two.changeNode(node, [](void*) { return 1; });
  CHECK(two.whyNot());
  two.abandon(); // a reset has ended its copies
  CHECK(world.copies.size() == 2);
}

TEST_CASE("what a launch needs that goes on is not changed") {
  world = {};
  fake::Graph graph, other;
  auto* node = graph.add(1);
  other.add(2);
  ExecutableGraph exec(&graph, nullptr, 0, fake::functions(), {any});
  const GraphBody* const body = exec.body();
  const unsigned word = 0;
  exec.freeze(&word);
  CHECK(exec.goesOn() == &word);
  CHECK(exec.whyNot() == ExecutableGraph::kGoesOn);
  bool isChanged = false;
  exec.changeNode(node, [&](void*) { return isChanged = true, 0; });
  exec.setOff(node, true);
  exec.update(&other);
  CHECK(!isChanged);
  CHECK(exec.body() == body);
  CHECK(!body->nodes[0]->isOff);
}

TEST_CASE("a graph without a kernel that is known is left alone") {
  world = {};
  fake::Graph graph;
  graph.add(1);
  world.refusesCopies = true;
  const ExecutableGraph exec(&graph, nullptr, 0, fake::functions(),
                             {[](const void*) { return false; }});
  CHECK(exec.whyNot() == ExecutableGraph::kForeign);
  CHECK(exec.unreadable().size() == 1);
  CHECK(exec.kernels().empty());
}

TEST_CASE("of a graph with conditional nodes what comes before and behind them is launched apart") {
  world = {};
  const auto& functions = fake::functionsThatRebuild();
  {
    fake::Graph graph, body;
    auto* fill = graph.add(1, {}, 2);
    auto* early = graph.add(2, {fill});
    auto* setting = graph.add(30, {early});
    auto* condition = graph.add(4, {setting}, kConditional);
    auto* middle = graph.add(5, {condition});
    auto* host = graph.add(6, {middle}, kHost);
    auto* late = graph.add(7, {host});
    auto* copy = graph.add(8, {late}, kCopy);
    graph.add(9, {copy});
    body.add(40);
    void* const bodies[] = {&body};
    noteBodies(&graph, condition, bodies);
    void* made = nullptr;
    CHECK(functions.instantiate(&made, &graph, 0) == 0);
    ExecutableGraph exec(&graph, made, 0, functions, {any, fake::isNumberBelow(10)});
    CHECK(!exec.whyNot());
    CHECK(exec.inBodies().size() == 1);
    CHECK(exec.unreadable().empty());
    const auto launched = [&] {
      world.ran.clear();
      CHECK(functions.launch(made, nullptr) == 0);
      return world.ran;
    };
    CHECK(inParts(exec, {2}) == Parts{{1}, {2}, {30, 4, 5, 6, 7, 8, 9}});
    CHECK(inParts(exec, {7}) == Parts{{1, 2, 30, 4, 5, 6}, {7}, {8, 9}});
    CHECK(inParts(exec, {2, 7, 9}) == Parts{{1}, {2}, {30, 4, 5, 6}, {7}, {8}, {9}});
    CHECK(launched() == std::vector<int>{1, 2, 30, 4, 5, 6, 7, 8, 9});
    for (const GraphNode* node : exec.kernels()) {
      const int number = static_cast<const fake::Node*>(node->original)->number;
      CHECK((node->place == NodePlace::Among) == (number == 30 || number == 5));
    }
    // What the program changes and leaves out stays so.
    CHECK(functions.setEnabled(made, late, 0) == 0);
    exec.setOff(late, true);
    exec.changeNode(early, [](void* node) { return renumber(node, 3); });
    exec.changeNode(host, [](void*) { return 0; });
    CHECK(!exec.whyNot());
    CHECK(inParts(exec, {3, 9}) == Parts{{1}, {3}, {30, 4, 5, 6, 8}, {9}});
    CHECK(launched() == std::vector<int>{1, 2, 30, 4, 5, 6, 8, 9});
    // It has all nodes but while it is launched.
    for (GraphNode* node : exec.kernels())
      node->isWanted = node->original == early;
    {
      std::vector<RunnablePart> parts = exec.cut();
      REQUIRE(parts.size() == 3);
      CHECK(launched() == std::vector<int>{1, 2, 30, 4, 5, 6, 8, 9});
      world.keepsOff = true;
      CHECK(parts[2].launch(nullptr) == 0);
      CHECK(parts[1].isPutBack());
      CHECK(!parts[2].isPutBack());
    }
    CHECK_THROWS_WITH_AS(inParts(exec, {3}), ExecutableGraph::kIncomplete, mneme::Error);
    world.refusesSwitches = true;
    CHECK_THROWS_WITH_AS(inParts(exec, {3}), "leaving out a node failed (status 801)",
                         mneme::Error);
    functions.destroyExec(made);
    forgetBodies(&graph);
  }
  CHECK(world.copies.empty());
  CHECK(world.execs == 0);
}

TEST_CASE("a kernel that sets conditions since a change stays in its graph") {
  world = {};
  fake::Graph graph;
  auto* early = graph.add(1);
  auto* setting = graph.add(30, {early});
  auto* late = graph.add(3, {graph.add(2, {setting}, kConditional)});
  for (auto* node : {early, setting, late}) {
    ExecutableGraph exec(&graph, nullptr, 0, fake::functionsThatRebuild(),
                         {any, fake::isNumberBelow(10)});
    const auto places = [&] {
      std::vector<NodePlace> found;
      for (const GraphNode* kernel : exec.kernels())
        found.push_back(kernel->place);
      return found;
    };
    using enum NodePlace;
    exec.changeNode(node, [](void* copy) { return renumber(copy, 5); });
    CHECK(places() == std::vector{Before, Among, Behind});
    exec.changeNode(node, [](void* copy) { return renumber(copy, 31); });
    CHECK(places() ==
          std::vector{node == early ? Among : Before, Among, node == late ? Among : Behind});
    CHECK(!exec.whyNot());
  }
}

TEST_CASE("kernels of graphs in a graph with conditional nodes stay there, and are told") {
  world = {};
  fake::Graph graph, other;
  auto inner = std::make_unique<fake::Graph>();
  inner->add(2);
  auto* condition = graph.add(1, {}, kConditional);
  auto* const child = graph.addChild(std::move(inner), {condition});
  graph.add(3, {child});
  void* made = nullptr;
  const auto& functions = fake::functionsThatRebuild();
  CHECK(functions.instantiate(&made, &graph, 0) == 0);
  ExecutableGraph exec(&graph, made, 0, functions, {any});
  CHECK(exec.inChildren().size() == 1);
  CHECK(exec.kernels().size() == 1);
  CHECK(inParts(exec, {3}) == Parts{{1, 2}, {3}});
  other.add(4, {other.addChild(std::make_unique<fake::Graph>(), {other.add(1, {}, kConditional)})});
  exec.update(&other);
  CHECK(exec.inChildren().empty());
  CHECK(inParts(exec, {4}) == Parts{{1, 2}, {4}}); // the fake vendor updates nothing
  exec.isChosen = true;
  exec.setChild(child, child->child.get());
  CHECK(!exec.whyNot()); // what is around it is launched in parts as before
  CHECK(!exec.isChosen);
  CHECK(inParts(exec, {4}) == Parts{{1, 2}, {4}});
  world.refusesNodes = true;
  const ExecutableGraph whole(&graph, made, 0, functions, {any});
  CHECK(whole.whyNot() == ExecutableGraph::kWhole);
  CHECK(whole.unreadable().size() == 2);
  CHECK(whole.inChildren().empty());
  functions.destroyExec(made);
}

TEST_CASE("a graph whose nodes are needed outlives its end in the program") {
  world = {};
  const auto& functions = fake::functionsThatRebuild();
  void *graph = nullptr, *plain = nullptr;
  CHECK(functions.create(&graph, 0) == 0);
  CHECK(functions.create(&plain, 0) == 0);
  auto& nodes = *static_cast<fake::Graph*>(graph);
  nodes.add(2, {nodes.add(1, {}, kConditional)});
  static_cast<fake::Graph*>(plain)->add(1);
  const auto made = [&](void* of) {
    return std::make_shared<ExecutableGraph>(of, nullptr, 0, functions, KnownKernels{any});
  };
  ExecutableGraphs all;
  int first = 0, second = 0, third = 0;
  all.set(&first, made(graph));
  all.set(&second, made(graph));
  all.set(&third, made(plain));
  CHECK(!all.outlive(plain));
  CHECK(all.outlive(graph));
  CHECK(!all.outlive(graph)); // another one with this handle
  all.nodeEnds(static_cast<fake::Graph*>(plain)->nodes[0].get());
  CHECK(!all.find(&third)->whyNot());
  CHECK(!all.find(&second)->whyNot());
  all.nodeEnds(nodes.nodes[0].get());
  CHECK(all.find(&second)->whyNot() == ExecutableGraph::kLost);
  all.forget(&first);
  CHECK(world.copies.contains(&nodes));
  all.forget(&second);
  CHECK(!world.copies.contains(&nodes));
  all.forget(&third);
  functions.destroy(plain);
  CHECK(world.copies.empty());
}
