// Room nvcc: architectures of GPUs: which ones a toolkit and this clang know, and what a program is
// built for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme::nvcc {

/// What a program has code for. Names are numbers with features: "90", "90a".
struct Targets {
  std::vector<std::string> machine; ///< machine code, sm_
  std::vector<std::string> ptx;     ///< PTX, compute_
  bool isForLinkTime = false;       ///< LTO code, lto_
  bool isNative = false;            ///< the GPUs at hand too
  bool isEmpty() const noexcept { return machine.empty() && ptx.empty() && !isNative; }
  /// Adds what is not among them yet.
  void add(const Targets& more);
};

/// Base architectures that a toolkit (10 * major + minor; 0: any) and this clang know, ascending.
std::vector<unsigned> knownArchitectures(unsigned toolkit);

/// What a program is built for that nothing is chosen for, where these GPUs are at hand (75 stands
/// for compute capability 7.5). Each is served: by code of its own, or by PTX of the newest
/// architecture below it. Without a GPU there is code for Ampere, for Hopper and for the newest
/// architecture, and PTX of the last two, so that everything from compute capability 8.0 on runs
/// it. Each architecture costs as much compile time as the first, so there are no more.
Targets targetsFor(const std::vector<unsigned>& gpus, unsigned toolkit);

/// The targets that a list names as CMake's CUDAARCHS does: "80;90-real", "native", "all",
/// "all-major".
/// \throws Error{InvalidArgument} naming what is not such a list.
Targets targetsOfList(std::string_view list, unsigned toolkit);

/// Every architecture, or those that end in 0 and the oldest, with PTX of the newest of them.
Targets allTargets(unsigned toolkit, bool majorOnly);

/// Adds what `-gencode` says (arch=compute_80,code=[sm_80,compute_80]; quotes for brackets).
/// \throws Error{InvalidArgument} where it is not such a specification.
void addGenerateCode(Targets& targets, std::string_view specification);

/// Adds what `-arch` says with the values of `-code`, of which there may be none.
/// \throws Error{InvalidArgument} naming an architecture that is none.
void addArchitecture(Targets& targets, const std::string& architecture,
                     const std::vector<std::string>& codes, unsigned toolkit);

/// Takes away what this clang cannot compile for, as long as something else is left, and names it
/// ("sm_110"); nvcc's users name long lists for every machine there is.
/// \throws Error{Unsupported} naming clang where nothing would be left.
std::vector<std::string> dropUnknownToClang(Targets& targets);

/// clang's options for these targets.
std::vector<std::string> clangOptions(const Targets& targets);

/// The targets as CMAKE_CUDA_ARCHITECTURES: "80-real;90".
std::string cmakeList(const Targets& targets);

} // namespace mneme::nvcc
