// Room replay: what the way a program was built says about results that differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mneme::replay {

struct Result;

/// Read from the "options" object of a kernel's blob (runtime/abi/blob_format.h).
struct BuildLicence {
  bool allowsFastMath = false; ///< -ffast-math, or a part of it
  bool allowsFusing = false;   ///< across statements: clang's default for kernels
  bool mayReadUnset = false;   ///< a local variable may be read that was never set
  bool isLinked = false;       ///< of several units (-fgpu-rdc), each with options of its own
  std::string level = {};      ///< of the program's own pipeline, as behind -O; empty: unknown
};

BuildLicence licenceOf(const std::string& optionsJson);

/// Whether differences of this size may come from rounding alone, in code that may be rounded in
/// more than one way.
bool mayBeRounding(const BuildLicence& licence, const Result& result);

/// Why `result`, which is wrong, may be what it is, and what to do: sentences, or nothing to say.
/// `passes` and `codegenOpt` are the pipeline and the level of code generation it was made with.
std::string explainWrong(const BuildLicence& licence, const Result& result,
                         const std::string& passes, uint32_t codegenOpt);

/// Drops what the recording of a kernel, made on `device`, holds after all: on the CPU device
/// textures and surfaces lie in ordinary memory.
void dropRecordedReads(std::vector<std::string>& reads, const std::string& device);

/// A sentence on a kernel that reads such things; nothing if it reads none.
std::string explainReads(const std::vector<std::string>& reads);

} // namespace mneme::replay
