// Room recorder: bodies of conditional nodes, which are graphs. Only the call that makes such a
// node tells them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/recorder/graph_functions.h"

namespace mneme::record {

// Thread-safe.
/// `graph` is that of the node.
void noteBodies(const void* graph, const void* node, std::span<void* const> graphs,
                const Condition& condition = {});
/// A handle of the graph was made, which has this value when the graph is launched. It is known in
/// bodies, too.
void noteHandle(const void* graph, uint64_t handle, unsigned value);
/// The graph, with what is in it, ends.
void forgetBodies(const void* graph) noexcept;
/// The node is removed from its graph.
void forgetBodiesOf(const void* node) noexcept;
/// The graph becomes a part of another one, and ends with that.
void bodiesMove(const void* child, const void* graph) noexcept;
/// Returns the bodies of a conditional node whose making was seen.
std::vector<void*> bodiesOf(const void* node);
/// Nothing if its making, or that of its handle, was not seen.
std::optional<Condition> conditionOf(const void* node);
bool isBody(const void* graph);

} // namespace mneme::record
