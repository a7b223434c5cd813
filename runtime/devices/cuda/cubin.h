// Room devices/cuda: reads facts from a cubin (an ELF file). All input is validated: a damaged file
// yields fewer facts but never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mneme::device::cuda {

/// A variable that the file defines.
struct CubinVariable {
  std::string name;
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

struct CubinFacts {
  /// "sm_90"; empty if the input is not a cubin or is truncated, in which case the driver would
  /// read past its end.
  std::string target;
  std::vector<CubinVariable> variables;
  /// The sizes of the requested kernel's arguments; none if the file does not describe all of them
  /// in a known form.
  std::optional<std::vector<uint64_t>> argumentSizes;
};

CubinFacts readCubin(std::span<const std::byte> image, const std::string& kernel);

} // namespace mneme::device::cuda
