// Room jit/missing_code: programs that have no code for the GPU they meet. Each unit carries the IR
// of its kernels, so code is made from that before the vendor's runtime registers the unit. The
// runtime then treats it as the unit's own: variables, attributes and launches are what they are
// elsewhere.
#pragma once

#include <span>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/embed/containers.h"

namespace mneme::missing {

/// What the vendor's runtime takes.
struct FatbinWrapper {
  uint32_t magic = 0x466243b1;
  uint32_t version = 1;
  const void* data = nullptr; ///< a fat binary
  const void* unused = nullptr;
};

/// Whether a GPU of this architecture runs one of the members as it is.
bool isServed(unsigned architecture, std::span<const embed::FatMember> members);

/// See mneme_jit_complete_code() in mneme_jit.h.
const void* wrapperFor(const void* wrapper);

} // namespace mneme::missing
