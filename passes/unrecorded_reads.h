// Room passes: finds reads of state that a recording does not contain.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace mneme::passes {

/// Returns what the functions of a device module read besides memory, arguments and a thread's
/// position in its grid, as objects of "it reads ...": "clocks", "multiprocessor numbers", "warp
/// slots", "grid numbers", "environment registers", "performance counters", "textures", "surfaces",
/// "the device's heap". A kernel that launches kernels itself has "launches of its own", one that
/// says which bodies of conditional nodes run "conditions of graphs". Sorted, without duplicates.
/// Checks intrinsics, functions of the vendors' libraries and inline assembly. A read whose value
/// is unused counts too.
std::vector<std::string> unrecordedReads(const llvm::Module& module);

} // namespace mneme::passes
