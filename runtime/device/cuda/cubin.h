// Room device/cuda: what a cubin (an ELF file) says about itself. No byte is trusted: a damaged
// file gives fewer facts, never a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  /// Of the kernel asked for; nothing if the file does not name every byte of its arguments in a
  /// way known here.
  std::optional<std::vector<uint64_t>> argumentSizes;
};

CubinFacts readCubin(std::span<const std::byte> image, const std::string& kernel);

} // namespace mneme::device::cuda
