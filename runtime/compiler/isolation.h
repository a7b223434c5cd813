// Room compiler: processes untrusted bytes. LLVM's readers trust their input: a few flipped bits
// can make them crash or loop. A copy of the process does the work, and may die.
#pragma once

#include <functional>
#include <string>

namespace mneme::compile {

/// Runs `work` in a forked child and returns its result. The host's handlers, threads and open
/// buffers have no effect in the child.
/// \throws Error  what `work` threw; Error{ArtifactCorrupt} "<what> crashes LLVM" or "... keeps
/// LLVM
///                busy" when the child died or did not come to an end; Error{IoFailed} when the
///                operating system refuses a child.
std::string runIsolated(const std::function<std::string()>& work, const std::string& what);

} // namespace mneme::compile
