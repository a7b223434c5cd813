// Room device/hip: what a code object (an ELF file) says about itself (LLVM, User Guide for AMDGPU
// Backend, "Code Object"). No byte is trusted: a damaged file gives fewer facts, never a fault.
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
  /// "gfx90a:xnack-"; empty for what is no code object or is cut off: HIP would read past its end.
  std::string target;
  std::vector<CodeObjectVariable> variables;
  // Of the kernel asked for.
  std::vector<uint64_t> argumentSizes; ///< without hidden ones
  uint64_t ldsBytes = 0;               ///< static, of a block
  uint64_t scratchBytes = 0;           ///< of a thread
  uint32_t vectorRegisters = 0;        ///< of a thread, accumulation registers included
  uint32_t maxThreads = 0;             ///< of a block; 0: not said
};

CodeObjectFacts readCodeObject(std::span<const std::byte> image, const std::string& kernel);

} // namespace mneme::device::hip
