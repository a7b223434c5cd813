// Room recorder: kernels in graphs, as launches.
#pragma once

#include "runtime/recorder/graph_copy.h"
#include "runtime/recorder/session.h"

namespace mneme::record {

mneme_launch launchOf(const GraphKernel& kernel, void* stream);
LaunchTraits traitsOf(const GraphKernel& kernel);
/// Reads what the node launches now, unless that is known.
void readNode(Session& session, ExecutableGraph& graph, GraphNode& node);
/// Whether the kernel runs on another device than its graph's stream.
bool isElsewhere(const GraphFunctions& functions, const NodeKernel& kernel, void* stream);

} // namespace mneme::record
