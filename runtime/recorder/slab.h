// Room recorder: host memory for captured content that waits to be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/core/artifact/writer.h"

namespace mneme::record {

/// Large memory comes directly from the system, in huge pages if available.
struct Slab {
  std::shared_ptr<std::byte> memory;
  size_t sizeBytes = 0;
  artifact::DraftSlab asDraft() const { return {memory, {memory.get(), sizeBytes}}; }
};

/// \throws Error{OutOfMemory}
Slab makeSlab(size_t sizeBytes);

/// \throws Error{OutOfMemory} if the machine does not have `sizeBytes` to spare: an application
/// must not be killed because it is recorded.
void checkHostMemory(uint64_t sizeBytes);

} // namespace mneme::record
