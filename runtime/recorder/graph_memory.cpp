#include "runtime/recorder/graph_memory.h"

#include <vector>

#include "runtime/core/base/last_error.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

constexpr int kChildGraph = 4, kMemAlloc = 10; // of the node types of all vendors

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

void noteMemory(Memory& memory, void* graph, const GraphFunctions& functions) {
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
    if (type == kChildGraph && functions.childGraph(node, &child) == 0)
      noteMemory(memory, child, functions);
    else if (type == kMemAlloc && functions.allocParams(node, &params) == 0 && params.pointer)
      memory.noteOfGraph(params.pointer);
  }
}

} // namespace

int watchInstantiate(void* graph, const GraphFunctions& functions, const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = guard.session();
  if (status != 0 || !session || !session->isActive() || !functions.getNodes ||
      !functions.nodeType || !functions.allocParams || !functions.childGraph)
    return status;
  try {
    const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
    noteMemory(*session->memory(), graph, functions);
  } catch (const std::exception& error) {
    session->note(sentence("memory of a graph could not be followed: ", error.what()));
  }
  return status;
}

} // namespace mneme::record
