// Room passes: what code reads that no recording holds.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace mneme::passes {

/// What the functions of a device module read besides memory, arguments and where a thread is in
/// its grid, in words that finish "it reads ...": "clocks", "multiprocessor numbers", "warp slots",
/// "grid numbers", "environment registers", "performance counters", "textures", "surfaces". Sorted,
/// each once. Intrinsics, functions of the vendors' libraries and inline assembly are looked at; a
/// read whose value nothing depends on counts too.
std::vector<std::string> unrecordedReads(const llvm::Module& module);

} // namespace mneme::passes
