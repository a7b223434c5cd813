// Room replay: explains differing results by how the program was built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mneme::replay {

struct Result;

/// Read from the "options" object of a kernel's blob (runtime/core/abi/blob_format.h).
struct BuildLicence {
  bool allowsFastMath = false; ///< -ffast-math, or a part of it
  bool allowsFusing = false;   ///< across statements: clang's default for kernels
  bool mayReadUnset = false;   ///< a local variable may be read that was never set
  bool isLinked = false;       ///< linked from several units (-fgpu-rdc), each with its own options
  std::string level = {};      ///< level of the program's own pipeline, as after -O; empty: unknown
};

BuildLicence licenceOf(const std::string& optionsJson);

/// Whether rounding alone may explain differences of this size, in code whose build allows several
/// ways to round.
bool mayBeRounding(const BuildLicence& licence, const Result& result);

/// Returns sentences that explain a wrong `result` and what to do; empty if there is no
/// explanation. `passes` and `codegenOpt` are the pipeline and the level of code generation that
/// were used.
std::string explainWrong(const BuildLicence& licence, const Result& result,
                         const std::string& passes, uint32_t codegenOpt);

/// Whether only floating-point numbers differ, and by no more than rounding can explain.
bool isRoundingSmall(const Result& result);

/// Explains why a kernel with another result may be right, and names what accepts it. `hasSums`: it
/// adds up floating-point numbers by atomics; `isSeen`: two replays differed.
std::string explainOrder(bool hasSums, bool isSeen, const Result& result);

/// Explains a result that differs by a few units in the last place only.
std::string explainFewUlp(const Result& result);

/// Drops those reads that a recording made on `device` does contain: on the CPU device textures and
/// surfaces are in ordinary memory.
void dropRecordedReads(std::vector<std::string>& reads, const std::string& device);

/// Returns the reads that the build found; also of a kernel that cannot be compiled.
std::vector<std::string> readsIn(const std::string& optionsJson);

/// Returns a sentence about a kernel with such reads; empty if there are none.
std::string explainReads(const std::vector<std::string>& reads);

} // namespace mneme::replay
