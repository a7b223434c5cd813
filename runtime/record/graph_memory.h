// Room record: memory that nodes of graphs allocate, so that pointers in memory find it, too.
#pragma once

#include <cstddef>

#include "runtime/record/served_memory.h"

namespace mneme::record {

/// What a vendor tells of graphs; statuses are its own. With a null among them nothing is asked.
struct GraphFunctions {
  int (*getNodes)(void* graph, void** nodes, size_t* count) = nullptr;
  int (*nodeType)(void* node, int* type) = nullptr;
  int (*allocParams)(void* node, void* params) = nullptr;
  int (*childGraph)(void* node, void** graph) = nullptr;
  // These two may be null.
  int (*peekAtLastError)() = nullptr;
  int (*getLastError)() = nullptr;
  int firstType = 0; ///< the number of the first type of nodes
};

/// Passes on the making of an executable graph, and notes what its nodes allocate: its addresses
/// are known from then on, memory is there while the graph has it.
int watchInstantiate(void* graph, const GraphFunctions& functions, const Next& next);

} // namespace mneme::record
