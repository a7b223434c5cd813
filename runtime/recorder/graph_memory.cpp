#include "runtime/recorder/graph_memory.h"

#include <cstddef>
#include <vector>

namespace mneme::record {
namespace {

/// With room for what newer vendors may add.
struct RoomyParams {
  AllocParams params;
  char more[136];
};

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
    RoomyParams room{};
    const AllocParams& params = room.params;
    if (!node || functions.nodeType(node, &type) != 0)
      continue;
    type -= functions.firstType;
    if (type == static_cast<int>(NodeKind::Child) && functions.childGraph(node, &child) == 0)
      noteGraphMemory(memory, child, functions);
    else if (type == static_cast<int>(NodeKind::Alloc) && functions.allocParams(node, &room) == 0 &&
             params.pointer)
      memory.noteOfGraph(params.pointer);
  }
}

} // namespace mneme::record
