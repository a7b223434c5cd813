#include "tests/unit/record/fake_graphs.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace fake {

World world;

std::unique_ptr<Graph> Graph::copy() const {
  auto made = std::make_unique<Graph>();
  made->isNested = isNested;
  made->values = values;
  std::map<const Node*, Node*> copies;
  for (const auto& node : nodes) {
    Node* one = copies[node.get()] = made->add(node->number, {}, node->kind);
    one->original = node.get();
    one->condition = node->condition, one->word = node->word;
    if (node->child)
      one->child = node->child->copy();
    for (const auto& body : node->bodies)
      one->bodies.push_back(body->copy());
  }
  for (const auto& node : nodes)
    for (const Node* before : node->after)
      copies[node.get()]->after.push_back(copies.at(before));
  return made;
}

Node* Graph::addConditional(const mneme::record::Condition& condition, std::vector<Node*> after) {
  Node* const node = add(0, std::move(after), 13);
  node->condition = condition;
  for (unsigned index = 0; index < condition.size; ++index)
    node->bodies.push_back(std::make_unique<Graph>());
  return node;
}

namespace {

struct Exec {
  std::unique_ptr<Graph> graph;
  std::set<const Node*> off; ///< by original
};

Graph* graphOf(void* graph) { return static_cast<Graph*>(graph); }
Node* nodeOf(void* node) { return static_cast<Node*>(node); }

std::vector<unsigned> values; ///< of the handles, which count from 1 on

void run(const Graph& graph, const std::set<const Node*>& off);

const Graph* chosen(const Node& node) {
  const unsigned value = values.at(node.condition.handle - 1);
  const bool isSwitch = node.condition.type == mneme::record::Condition::Type::Switch;
  const size_t index = isSwitch ? value : value == 0;
  return index < node.bodies.size() ? node.bodies[index].get() : nullptr;
}

void runOne(const Node& node, const std::set<const Node*>& off) {
  if (node.word) {
    *node.word = static_cast<unsigned>(node.number);
    return;
  }
  if (node.bodies.empty() || node.number != 0)
    world.ran.push_back(node.number);
  if (auto& sets = world.sets[node.number]; !sets.empty()) {
    values.at(node.condition.handle - 1) = sets.front();
    sets.erase(sets.begin());
  }
  if (node.bodies.empty())
    return;
  const bool isLoop = node.condition.type == mneme::record::Condition::Type::While;
  for (const Graph* body = chosen(node); body; body = isLoop ? chosen(node) : nullptr)
    run(*body, off);
}

void run(const Graph& graph, const std::set<const Node*>& off) {
  std::set<const Node*> done;
  while (done.size() < graph.nodes.size())
    for (const auto& node : graph.nodes)
      if (!done.contains(node.get()) &&
          std::ranges::all_of(node->after, [&](Node* one) { return done.contains(one); })) {
        done.insert(node.get());
        if (node->child)
          run(*node->child, off);
        else if (!off.contains(node->original))
          runOne(*node, off);
      }
}

int getNodes(void* graph, void** nodes, size_t* count) {
  const auto& all = graphOf(graph)->nodes;
  for (size_t index = 0; nodes && index < std::min(*count, all.size()); ++index)
    nodes[index] = all[index].get();
  *count = all.size();
  return 0;
}
int getEdges(void* graph, void** from, void** to, size_t* count) {
  size_t found = 0;
  for (const auto& node : graphOf(graph)->nodes)
    for (Node* before : node->after) {
      if (from && found < *count)
        from[found] = before, to[found] = node.get();
      ++found;
    }
  *count = found;
  return 0;
}
int clone(void** copy, void* graph) {
  if (world.refusesCopies)
    return 801;
  Graph* const made = graphOf(graph)->copy().release();
  made->isNested = false;
  world.copies.insert(made);
  *copy = made;
  return 0;
}
int destroy(void* graph) {
  world.copies.erase(graphOf(graph));
  delete graphOf(graph);
  return 0;
}
int findInClone(void** found, void* original, void* copy) {
  for (const auto& node : graphOf(copy)->nodes)
    if (!graphOf(copy)->isNested && node->original == original) {
      *found = node.get();
      return 0;
    }
  return 1;
}
int destroyNode(void* node) {
  auto& nodes = nodeOf(node)->graph->nodes;
  for (const auto& other : nodes)
    std::erase(other->after, nodeOf(node));
  std::erase_if(nodes, [&](const auto& one) { return one.get() == node; });
  return 0;
}
int instantiate(void** exec, void* graph, unsigned long long) {
  ++world.execs;
  *exec = new Exec{graphOf(graph)->copy(), {}};
  return 0;
}
int destroyExec(void* exec) {
  --world.execs;
  delete static_cast<Exec*>(exec);
  return 0;
}
int setEnabled(void* exec, void* node, unsigned isEnabled) {
  if (isEnabled ? world.keepsOff : world.refusesSwitches)
    return 801;
  auto& off = static_cast<Exec*>(exec)->off;
  isEnabled ? void(off.erase(nodeOf(node))) : void(off.insert(nodeOf(node)));
  return 0;
}
int launch(void* exec, void*) {
  const Exec& one = *static_cast<Exec*>(exec);
  values = one.graph->values;
  run(*one.graph, one.off);
  return 0;
}
const char kFunctions[100] = {};

int create(void** graph, unsigned) {
  auto* const made = new Graph;
  world.copies.insert(made);
  *graph = made;
  return 0;
}
int addLike(void** node, void* graph, void* const* after, size_t count, void* other) {
  std::vector<Node*> before;
  for (size_t index = 0; index < count; ++index)
    before.push_back(nodeOf(after[index]));
  Node* const made = graphOf(graph)->add(nodeOf(other)->number, before, nodeOf(other)->kind);
  made->condition = nodeOf(other)->condition;
  if (nodeOf(other)->child)
    made->child = nodeOf(other)->child->copy();
  *node = made;
  return 0;
}
int addEmpty(void** node, void* graph, void* const* after, size_t count) {
  if (world.refusesNodes)
    return 801;
  Node empty;
  empty.kind = static_cast<int>(mneme::record::NodeKind::Empty);
  return addLike(node, graph, after, count, &empty);
}
int createHandle(uint64_t* handle, void* graph, unsigned value) {
  auto& values = graphOf(graph)->values;
  values.push_back(value);
  *handle = values.size();
  return world.refusesConditions ? 801 : 0;
}
int addConditional(void** node, void* graph, void* const* after, size_t count,
                   const mneme::record::Condition& condition, void** bodies) {
  std::vector<Node*> before;
  for (size_t index = 0; index < count; ++index)
    before.push_back(nodeOf(after[index]));
  Node* const made = graphOf(graph)->addConditional(condition, before);
  for (size_t index = 0; index < condition.size; ++index)
    bodies[index] = made->bodies[index].get();
  *node = made;
  return 0;
}
int addFill(void** node, void* graph, unsigned* word, unsigned value) {
  Node* const made = graphOf(graph)->add(static_cast<int>(value), {}, 2);
  made->word = word;
  *node = made;
  return 0;
}
int readKernel(void* node, mneme::record::NodeKernel& kernel) {
  kernel.sharedBytes = static_cast<size_t>(nodeOf(node)->number);
  kernel.function = &kFunctions[std::abs(nodeOf(node)->number)];
  kernel.isChangedByKernels = nodeOf(node)->number < 0;
  return 0;
}

} // namespace

const mneme::record::GraphFunctions& functions() {
  static const mneme::record::GraphFunctions all{
      .getNodes = getNodes,
      .nodeType = [](void* node, int* type) { return *type = nodeOf(node)->kind, 0; },
      .allocParams = [](void*, void*) { return 1; },
      .childGraph = [](void* node, void** graph) { return *graph = nodeOf(node)->child.get(), 0; },
      .getEdges = getEdges,
      .clone = clone,
      .destroy = destroy,
      .findInClone = findInClone,
      .destroyNode = destroyNode,
      .instantiate = instantiate,
      .destroyExec = destroyExec,
      .setEnabled = setEnabled,
      .launch = launch,
      .readKernel = readKernel};
  return all;
}

const mneme::record::GraphFunctions& functionsThatRebuild() {
  static const mneme::record::GraphFunctions all = [] {
    mneme::record::GraphFunctions made = functions();
    made.create = create, made.addLike = addLike, made.addEmpty = addEmpty;
    return made;
  }();
  return all;
}

const mneme::record::GraphFunctions& functionsThatChoose() {
  static const mneme::record::GraphFunctions all = [] {
    mneme::record::GraphFunctions made = functionsThatRebuild();
    made.createHandle = createHandle, made.addConditional = addConditional;
    made.addFill = addFill;
    made.makeWords = [](size_t count) { return new unsigned[count]; };
    made.waitStream = [](void*) { return 0; };
    return made;
  }();
  return all;
}

std::function<bool(const void*)> isNumberBelow(int limit) {
  return [limit](const void* function) {
    return static_cast<const char*>(function) - kFunctions < limit;
  };
}

} // namespace fake
