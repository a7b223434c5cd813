// Room recorder: bodies of conditional nodes, which are graphs. Only the call that makes such a
// node tells them.
#pragma once

#include <span>
#include <vector>

namespace mneme::record {

// Thread-safe.
void noteBodies(const void* node, std::span<void* const> graphs);
/// Returns the bodies of a conditional node whose making was seen.
std::vector<void*> bodiesOf(const void* node);
bool isBody(const void* graph);

} // namespace mneme::record
