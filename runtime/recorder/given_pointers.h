// Room recorder: pointers that a launch was given, by name, for messages about memory that is not
// recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/embed/kernel_blob.h"

namespace mneme::record {

/// A pointer argument, or a pointer that the kernel reads in a structure passed by value.
struct GivenPointer {
  uint64_t address = 0;
  std::string name; ///< "argument 2, 'x'" or "member 'f.x' of argument 0"
  bool isMember = false;
};

/// Null pointers are left out.
std::vector<GivenPointer> givenPointers(const embed::KernelBlob& blob, const mneme_launch& launch);

/// Whether this process can read there: memory of the host, or of a device that works as such.
bool isHostReadable(uint64_t address) noexcept;

} // namespace mneme::record
