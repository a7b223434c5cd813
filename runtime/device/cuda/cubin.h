// Room device/cuda: what a cubin (an ELF file) says about itself. No byte is trusted: a damaged
// file gives fewer facts, never a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/gpu/elf_file.h"

namespace mneme::device::cuda {

using gpu::isElf;

/// A variable the file defines.
struct CubinVariable {
  std::string name;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

struct CubinFacts {
  /// "sm_90"; empty for what is no cubin or is cut off: the driver would read past its end.
  std::string target;
  std::vector<CubinVariable> variables;
  std::vector<uint64_t> argumentSizes; ///< of the kernel asked for
};

CubinFacts readCubin(std::span<const std::byte> image, const std::string& kernel);

} // namespace mneme::device::cuda
