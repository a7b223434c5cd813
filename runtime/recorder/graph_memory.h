// Room recorder: finds memory that nodes of graphs allocate, so that pointers into it can be
// followed.
#pragma once

#include <cstddef>

#include "runtime/recorder/served_memory.h"

namespace mneme::record {

/// A vendor's functions about graphs; statuses are the vendor's. If one is null, none is called.
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

/// Passes on a call that makes an executable graph, and notes the addresses of memory that its
/// nodes allocate. The memory exists only while the graph has it.
int watchInstantiate(void* graph, const GraphFunctions& functions, const Next& next);

} // namespace mneme::record
