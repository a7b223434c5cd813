#include "runtime/recorder/graph_memory.h"

#include <cstddef>
#include <vector>

namespace mneme::record {
namespace {

/// The vendors' structure of such a node, and room for what newer ones may add.
struct AllocParams {
  char properties[88];
  void* access;
  size_t accessCount;
  size_t sizeBytes;
  void* pointer;
  char more[136];
};
static_assert(offsetof(AllocParams, pointer) == 112);

} // namespace

void noteGraphMemory(Memory& memory, void* graph, const GraphFunctions& functions) {
  size_t count = 0;
  if (functions.getNodes(graph, nullptr, &count) != 0 || count == 0)
    return;
  std::vector<void*> nodes(count);
  if (functions.getNodes(graph, nodes.data(), &count) != 0)
    return;
  for (void* node : nodes) {
    int type = -1;
    void* child = nullptr;
    AllocParams params{};
    if (!node || functions.nodeType(node, &type) != 0)
      continue;
    type -= functions.firstType;
    if (type == static_cast<int>(NodeKind::Child) && functions.childGraph(node, &child) == 0)
      noteGraphMemory(memory, child, functions);
    else if (type == static_cast<int>(NodeKind::Alloc) &&
             functions.allocParams(node, &params) == 0 && params.pointer)
      memory.noteOfGraph(params.pointer);
  }
}

} // namespace mneme::record
