// Room compiler: versions of the PTX language. A version is 10 * major + minor: 88 is PTX 8.8.
#pragma once

#include <string>

namespace mneme::compile {

/// Returns the newest PTX that the tools of a CUDA release accept; for a newer release than this
/// table has, its newest PTX.
unsigned ptxOfCuda(unsigned major, unsigned minor);

/// Returns the oldest PTX that supports `arch` ("sm_90a"); 0 if this table lacks it.
unsigned ptxOfArchitecture(const std::string& arch);

/// Chooses the version to emit for `arch` if the IR was compiled for `wanted` (0: not stated) and
/// the tool `toolName` accepts `accepted`; at most `known`, LLVM's newest.
/// \throws Error{Unsupported} when `arch` needs more than the tool or LLVM has.
unsigned choosePtxVersion(const std::string& arch, unsigned wanted, unsigned accepted,
                          unsigned known, const std::string& toolName);

/// The version that every supported driver accepts: CUDA 12.0's.
inline constexpr unsigned kDriverPtx = 80;

/// Returns a text such as "8.8".
std::string ptxText(unsigned version);

} // namespace mneme::compile
