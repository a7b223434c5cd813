// Room compile: versions of the PTX language. A version is 10 * major + minor: 88 is PTX 8.8.
#pragma once

#include <string>

namespace mneme::compile {

/// The newest PTX the tools of a CUDA release accept; for a release newer than this table, the
/// newest PTX it holds.
unsigned ptxOfCuda(unsigned major, unsigned minor);

/// The oldest PTX that knows `arch` ("sm_90a"); 0 for one this table lacks.
unsigned ptxOfArchitecture(const std::string& arch);

/// What to emit for `arch` when the IR was compiled for `wanted` (0: it does not say) and the tool
/// called `toolName` accepts `accepted`; at most `known`, LLVM's newest.
/// \throws Error{Unsupported} when `arch` needs more than the tool or LLVM has.
unsigned choosePtxVersion(const std::string& arch, unsigned wanted, unsigned accepted,
                          unsigned known, const std::string& toolName);

/// What any driver this library can run beside accepts: CUDA 12.0's.
inline constexpr unsigned kDriverPtx = 80;

/// "8.8"
std::string ptxText(unsigned version);

} // namespace mneme::compile
