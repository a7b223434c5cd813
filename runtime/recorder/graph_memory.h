// Room recorder: finds memory that nodes of graphs allocate, so that pointers into it can be
// followed.
#pragma once

#include "runtime/recorder/device_memory.h"
#include "runtime/recorder/graph_functions.h"

namespace mneme::record {

/// Notes the addresses of memory that nodes of the graph allocate. The memory exists only while the
/// graph has it.
void noteGraphMemory(Memory& memory, void* graph, const GraphFunctions& functions);

} // namespace mneme::record
