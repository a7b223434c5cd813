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
  std::vector<uint64_t> argumentSizes; ///< of the kernel asked for, without hidden ones
};

CodeObjectFacts readCodeObject(std::span<const std::byte> image, const std::string& kernel);

} // namespace mneme::device::hip
