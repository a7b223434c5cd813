// Room compiler: what a kernel uses, from the metadata of a code object (LLVM, User Guide for
// AMDGPU Backend, "Code Object Metadata") and from the comments of its assembly.
#pragma once

#include <cstdint>
#include <string>

namespace mneme::compile {

struct CodeObjectUsage {
  std::string targetId; ///< "amdgcn-amd-amdhsa--gfx90a:xnack-"
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t vgprSpills = 0, sgprSpills = 0; ///< registers
  uint64_t ldsBytes = 0;                   ///< static, of a work-group
  uint64_t scratchBytes = 0;               ///< of a work-item
  uint32_t waveSize = 0;
  uint32_t maxWorkGroup = 0; ///< work-items
  uint32_t occupancy = 0;    ///< waves of a SIMD that registers and LDS allow; 0: not known
};

/// \throws Error{CompileFailed} if the metadata does not name the kernel.
CodeObjectUsage usageInCodeObject(const std::string& codeObject, const std::string& kernel);

/// The waves of a SIMD that the code generator counts on; 0 if the text does not say.
uint32_t occupancyIn(const std::string& assembly, const std::string& kernel);

} // namespace mneme::compile
