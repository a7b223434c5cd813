// Room recorder: CUDA's own functions about graphs. Driver and runtime have the same handles.
#pragma once

#include "runtime/recorder/graph_functions.h"

namespace mneme::record {

/// For calls of the runtime, and for those of the driver, where the runtime may never have started.
const GraphFunctions& cudaGraphFunctions() noexcept;
const GraphFunctions& cuGraphFunctions() noexcept;

} // namespace mneme::record
