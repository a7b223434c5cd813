// Room recorder: handles calls about memory that nodes of graphs allocate and free, for all
// vendors. Empty nodes take the place of these nodes where the recorder has the memory
// (graph_blocks.h), and questions are answered for the nodes that the program made.
#pragma once

#include <optional>

#include "runtime/recorder/graph_functions.h"
#include "runtime/recorder/next_call.h"

namespace mneme::record {

/// Where a node is added to a graph.
struct NewNode {
  void** node;
  void* graph;
  void* const* after;
  size_t count;
};

/// Adds a node that allocates memory, or one that frees some.
int serveAllocNode(const NewNode& place, AllocParams* params, const GraphFunctions& functions,
                   const Next& next);
int serveFreeNode(const NewNode& place, void* pointer, const GraphFunctions& functions,
                  const Next& next);
/// The same for a stream that is captured into a graph.
int serveCapturedAlloc(void** pointer, size_t bytes, void* stream, const GraphFunctions& functions,
                       const Next& next);
int serveCapturedFree(void* pointer, void* stream, const GraphFunctions& functions,
                      const Next& next);

/// Frees memory that a launch of a graph has left. Nothing if that is none of ours.
std::optional<int> freeGraphMemory(void* pointer, bool waits) noexcept;

// What the program asks.
int serveNodeType(void* node, int* type, const GraphFunctions& functions, const Next& next);
int serveAllocParams(void* node, AllocParams* params, const Next& next);
int serveFreeParams(void* node, void** pointer, const Next& next);

int watchGraphDestroy(void* graph, const Next& next);
/// Call it after the end of a capture, with any `status`, which is returned.
int captureEnded(void* stream, void* const* graph, int status) noexcept;
/// Passes on a call that makes a graph a part of another one, for good.
int watchGraphMove(void* child, void* graph, const Next& next);
/// Refuses, as the vendor does, what it does to no graph that allocates or frees memory: copying
/// it, making it a part of another one, removing edges and such nodes.
int refuseGraphMemory(void* graph, const GraphFunctions& functions, const Next& next);
int watchNodeDestroy(void* node, const GraphFunctions& functions, const Next& next);

} // namespace mneme::record
