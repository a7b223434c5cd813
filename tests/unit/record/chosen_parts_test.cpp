#include "runtime/recorder/chosen_parts.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/recorder/graph_bodies.h"
#include "tests/unit/record/fake_graphs.h"

using namespace mneme::record;
using fake::world;
using Type = Condition::Type;

namespace {

constexpr int kCopy = 1, kHost = 3, kFirstSetter = 50;

const auto any = [](const void*) { return true; };

/// The program's graph. Kernels from kFirstSetter on set conditions.
class Program {
public:
  Program() { world = {}; }
  ~Program() { forgetBodies(&graph); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  fake::Node* condition(fake::Graph& in, uint64_t handle, Type type, unsigned size,
                        std::vector<fake::Node*> after = {}, unsigned value = 0) {
    fake::Node* const node = in.addConditional({handle, type, size}, std::move(after));
    std::vector<void*> bodies;
    for (const auto& body : node->bodies)
      bodies.push_back(body.get());
    noteHandle(&in, handle, value);
    noteBodies(&in, node, bodies, {handle, type, size});
    return node;
  }
  fake::Node* setter(fake::Graph& in, int number, uint64_t handle,
                     std::vector<fake::Node*> after = {}) {
    fake::Node* const node = in.add(number, std::move(after));
    node->condition.handle = handle;
    return node;
  }
  ExecutableGraph& exec(const GraphFunctions& functions = fake::functionsThatChoose()) {
    exec_ = std::make_unique<ExecutableGraph>(&graph, nullptr, 0, functions,
                                              KnownKernels{any, fake::isNumberBelow(kFirstSetter)});
    read(*exec_->body());
    return *exec_;
  }

  /// The graph runs these nodes as a whole, and when the host runs the bodies.
  void check(const std::map<int, std::vector<unsigned>>& sets, const std::vector<int>& ran) {
    const GraphBody& body = *exec().body();
    const ChosenParts::Run all(body.order.begin(), body.order.end());
    world.sets = sets;
    CHECK(ChosenParts(*exec_, nullptr, [] {}).launch(body, all) == 0);
    CHECK(world.ran == ran);
    world.ran.clear();
    world.sets = sets;
    CHECK(leavesUntold(*body.order[0]));
    CHECK(ChosenParts(*exec_, nullptr, [] {}).launchInBody(body, all) == 0);
    CHECK(world.ran == ran);
  }

  fake::Graph graph;

private:
  /// As the session does.
  static void read(GraphBody& body) {
    for (const auto& node : body.nodes) {
      node->kernel.setsConditions = static_cast<fake::Node*>(node->handle)->number >= kFirstSetter;
      for (const auto& inside : node->bodies)
        read(*inside);
    }
  }

  std::unique_ptr<ExecutableGraph> exec_;
};

/// Runs all nodes, and counts how often the device was waited for.
struct Launch {
  explicit Launch(ExecutableGraph& graph) : parts(graph, nullptr, [this] { ++waits; }) {
    run(*graph.body());
  }
  void run(const GraphBody& body) {
    ChosenParts::Run nodes;
    for (const GraphNode* node : body.order) {
      if (!is(*node, NodeKind::Conditional)) {
        nodes.push_back(node);
        continue;
      }
      CHECK(parts.launch(body, std::exchange(nodes, {})) == 0);
      size_t index = parts.bodyOf(*node);
      while (index < node->bodies.size()) {
        run(*node->bodies[index]);
        index = node->condition.type == Type::While ? parts.bodyOf(*node) : node->bodies.size();
      }
    }
    CHECK(parts.launch(body, nodes) == 0);
  }

  int waits = 0;
  ChosenParts parts;
};

using Ran = std::vector<int>;

} // namespace

TEST_CASE("the host runs the bodies that kernels choose") {
  Program program;
  auto* first = program.setter(program.graph, 50, 1, {program.graph.add(1, {}, kCopy)});
  auto* either = program.condition(program.graph, 1, Type::If, 2, {first});
  either->bodies[0]->add(2);
  either->bodies[1]->add(3);
  auto* second = program.setter(program.graph, 51, 2, {either});
  auto* loop = program.condition(program.graph, 2, Type::While, 1, {second});
  auto* inner = program.condition(*loop->bodies[0], 3, Type::Switch, 3,
                                  {program.setter(*loop->bodies[0], 52, 3)});
  for (int index = 0; index < 3; ++index)
    inner->bodies[static_cast<size_t>(index)]->add(10 + index);
  program.setter(*loop->bodies[0], 53, 2, {inner});
  program.graph.add(4, {loop}, kHost);
  ExecutableGraph& exec = program.exec();
  CHECK(!whyNotChosen(exec.functions(), *exec.body()));
  const auto set = [&] {
    world.ran.clear();
    world.sets = {{50, {0}}, {51, {5}}, {52, {2, 0, 9}}, {53, {1, 1, 0}}};
  };
  set();
  Launch launch(exec);
  const Ran ran{1, 50, 3, 51, 52, 12, 53, 52, 10, 53, 52, 53, 4};
  CHECK(world.ran == ran);
  CHECK(launch.waits == 8); // one for each value
  // The same as a whole.
  set();
  ChosenParts parts(exec, nullptr, [] {});
  CHECK(parts.launch(*exec.body(), {exec.body()->order.begin(), exec.body()->order.end()}) == 0);
  CHECK(world.ran == ran);
}

TEST_CASE("what is left of a loop runs as a whole, from the value that it has") {
  Program program;
  auto* loop =
      program.condition(program.graph, 1, Type::While, 1, {program.setter(program.graph, 50, 1)});
  program.setter(*loop->bodies[0], 51, 1, {loop->bodies[0]->add(1)});
  ExecutableGraph& exec = program.exec();
  const GraphBody& body = *exec.body();
  const GraphNode* const conditional = body.order[1];
  const GraphBody& inside = *conditional->bodies[0];
  world.sets = {{50, {1}}, {51, {1, 1, 0}}};
  ChosenParts parts(exec, nullptr, [] {});
  CHECK(parts.launch(body, {body.order[0]}) == 0);
  CHECK(parts.bodyOf(*conditional) == 0);
  CHECK(parts.launch(inside, {inside.order.begin(), inside.order.end()}) == 0);
  CHECK(setsConditions({body.order[0]}));
  CHECK(setsConditions({conditional}));
  CHECK(!setsConditions({inside.order[0]}));
  CHECK(parts.launch(body, {conditional}) == 0);
  CHECK(world.ran == Ran{50, 1, 51, 1, 51, 1, 51});
  CHECK(parts.bodyOf(*conditional) == 1);
}

TEST_CASE("in a body that runs again, a value is told that counts the next time") {
  Program program;
  auto* loop = program.condition(program.graph, 1, Type::While, 1, {}, 1);
  fake::Graph& body = *loop->bodies[0];
  SUBCASE("set behind its node") {
    auto* chosen = program.condition(body, 2, Type::If, 1);
    chosen->bodies[0]->add(2);
    program.setter(body, 52, 1, {program.setter(body, 51, 2, {chosen})});
    program.check({{51, {1, 0, 1}}, {52, {1, 1, 0}}}, {51, 52, 2, 51, 52, 51, 52});
  }
  SUBCASE("set in its own body") {
    auto* first = program.condition(body, 2, Type::If, 1, {}, 1);
    program.setter(*first->bodies[0], 51, 2, {first->bodies[0]->add(3)});
    program.setter(body, 52, 1, {first});
    program.check({{51, {0}}, {52, {1, 1, 0}}}, {3, 51, 52, 52, 52});
  }
  SUBCASE("set in the loop that its node runs in") {
    auto* inner = program.condition(body, 2, Type::While, 1, {}, 1);
    fake::Graph& deep = *inner->bodies[0];
    auto* chosen = program.condition(deep, 3, Type::If, 1);
    chosen->bodies[0]->add(4);
    program.setter(deep, 52, 2, {program.setter(deep, 51, 3, {chosen})});
    program.setter(body, 54, 1, {program.setter(body, 53, 2, {inner})});
    program.check({{51, {1, 0}}, {52, {0, 0}}, {53, {1, 1}}, {54, {1, 0}}},
                  {51, 52, 53, 54, 4, 51, 52, 53, 54});
  }
  SUBCASE("set by a loop before or behind its node") {
    auto* chosen = program.condition(body, 2, Type::If, 1);
    chosen->bodies[0]->add(2);
    auto* inner = program.condition(body, 3, Type::While, 1, {chosen}, 1);
    fake::Graph& deep = *inner->bodies[0];
    program.setter(deep, 52, 3, {program.setter(deep, 51, 2)});
    program.setter(body, 54, 1, {program.setter(body, 53, 3, {inner})});
    program.check({{51, {0, 1, 0}}, {52, {1, 0, 0}}, {53, {1, 1}}, {54, {1, 0}}},
                  {51, 52, 51, 52, 53, 54, 2, 51, 52, 53, 54});
  }
}

TEST_CASE("a graph that cannot be launched body by body says why") {
  Program program;
  const auto why = [&](const GraphFunctions& functions = fake::functionsThatChoose()) {
    ExecutableGraph& exec = program.exec(functions);
    const char* const text = whyNotChosen(functions, *exec.body());
    return std::string(text ? text : "");
  };
  auto* loop = program.condition(program.graph, 1, Type::While, 1, {program.graph.add(1)});
  program.setter(*loop->bodies[0], 51, 1);
  CHECK(why() == "");
  CHECK(why(fake::functionsThatRebuild()) == "it cannot be made again");
  world.refusesConditions = true;
  CHECK_THROWS_WITH_AS(ChosenParts(program.exec(), nullptr, [] {}),
                       "making a condition failed (status 801)", mneme::Error);
  world.refusesConditions = false;
  loop->bodies[0]->add(3, {}, 7);
  CHECK(why() == "a node in it cannot be made again");
  forgetBodiesOf(loop);
  CHECK(why() == "the bodies of a conditional node cannot be made again");
}

TEST_CASE("a graph in a body runs as a whole, unless a kernel in it sets conditions") {
  Program program;
  auto* loop = program.condition(program.graph, 1, Type::While, 1, {program.graph.add(1)}, 1);
  fake::Graph& body = *loop->bodies[0];
  auto inner = std::make_unique<fake::Graph>();
  inner->add(3, {inner->add(2)});
  auto* const child = body.addChild(std::move(inner));
  program.setter(body, 51, 1, {child});
  {
    ExecutableGraph& exec = program.exec();
    CHECK_FALSE(whyNotChosen(fake::functionsThatChoose(), *exec.body()));
    world.sets = {{51, {1, 0}}};
    const Launch launch(exec);
    CHECK(world.ran == Ran{1, 2, 3, 51, 2, 3, 51});
  }
  ExecutableGraph& exec = program.exec();
  exec.setChild(child, child->child.get()); // no copy of it has what the program gives it
  CHECK(!exec.whyNot());
  CHECK(whyNotChosen(fake::functionsThatChoose(), *exec.body()) ==
        std::string("a node in it cannot be made again"));
  child->child->add(52);
  CHECK(whyNotChosen(fake::functionsThatChoose(), *program.exec().body()) ==
        std::string("a node in it cannot be made again"));
}

TEST_CASE(
    "kernels of graphs in graphs and in bodies are told, whether the host runs bodies or not") {
  Program program;
  auto* loop = program.condition(program.graph, 1, Type::While, 1);
  auto* deep = program.condition(*loop->bodies[0], 2, Type::If, 1);
  const auto addChild = [](fake::Graph& graph, int number) {
    auto inner = std::make_unique<fake::Graph>();
    inner->add(number);
    graph.addChild(std::move(inner));
  };
  addChild(program.graph, 1);
  loop->bodies[0]->add(2);
  addChild(*loop->bodies[0], 3);
  addChild(*deep->bodies[0], 4);
  ExecutableGraph& exec = program.exec();
  const auto told = [&](bool isChosen) {
    std::map<int, std::string> all;
    exec.isChosen = isChosen;
    for (const auto& [function, why] : exec.staying())
      for (const int number : {1, 2, 3, 4})
        if (!fake::isNumberBelow(number)(function) && fake::isNumberBelow(number + 1)(function))
          all[number] = why;
    return all;
  };
  const std::string inGraph =
      "it runs in a graph in a graph that has conditional nodes, and is not recorded there";
  const std::string inBody =
      "it runs in the body of a conditional node of a graph, and is not recorded there";
  CHECK(told(true) == std::map<int, std::string>{{1, inGraph}, {3, inGraph}, {4, inGraph}});
  CHECK(told(false) ==
        std::map<int, std::string>{{1, inGraph}, {2, inBody}, {3, inBody}, {4, inBody}});
}

TEST_CASE("handles that are not numbers from 1 on belong to their graph") {
  Program program;
  program.condition(program.graph, 2, Type::If, 1, {program.graph.add(1)});
  CHECK_THROWS_WITH_AS(ChosenParts(program.exec(), nullptr, [] {}),
                       "its conditions get other handles", mneme::Error);
}
