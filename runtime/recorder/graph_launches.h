// Room recorder: handles the program's executable graphs, for all vendors. The vendor's own
// function is given as `next`, as in served_memory.h.
#pragma once

#include <functional>

#include "runtime/recorder/graph_functions.h"
#include "runtime/recorder/served_memory.h"

namespace mneme::record {

/// Passes on a call that makes an executable graph of `graph`. `functions` must live for ever.
int watchInstantiate(void** exec, void* graph, const GraphFunctions& functions, const Next& next);
int watchExecDestroy(void* exec, const Next& next);

/// Passes on a call that changes a node of an executable graph. `change` does the same to a node of
/// the recorder's copy of the graph, and returns the vendor's status.
int watchExecChange(void* exec, void* node, const std::function<int(void* node)>& change,
                    const Next& next);
int watchExecEnable(void* exec, void* node, bool isEnabled, const Next& next);
int watchExecChild(void* exec, void* node, void* graph, const Next& next);
/// The same for a call that changes a whole one.
int watchExecUpdate(void* exec, void* graph, const Next& next);

/// Passes on the launch of an executable graph, or launches what it holds one after the other so
/// that kernels are recorded. `unknown` is the note about a graph whose making was not seen.
int launchGraph(void* exec, void* stream, const char* unknown, const GraphFunctions& functions,
                const Next& next);

} // namespace mneme::record
