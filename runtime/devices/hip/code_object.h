// Room devices/hip: reads facts from a code object (an ELF file; see LLVM, User Guide for AMDGPU
// Backend, "Code Object"). All input is validated: a damaged file yields fewer facts but never a
// crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mneme::device::hip {

struct CodeObjectVariable {
  std::string name;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

struct CodeObjectFacts {
  /// "gfx90a:xnack-"; empty if the input is not a code object or is truncated, in which case HIP
  /// would read past its end.
  std::string target;
  std::vector<CodeObjectVariable> variables;
  // Facts about the requested kernel.
  std::vector<uint64_t> argumentSizes; ///< without hidden ones
  uint64_t ldsBytes = 0;               ///< static, per block
  uint64_t scratchBytes = 0;           ///< of a thread
  uint32_t vectorRegisters = 0;        ///< per thread, including accumulation registers
  uint32_t maxThreads = 0;             ///< per block; 0: unknown
};

CodeObjectFacts readCodeObject(std::span<const std::byte> image, const std::string& kernel);

} // namespace mneme::device::hip
