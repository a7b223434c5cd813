// Room record: host memory that captured content waits in until it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/artifact/writer.h"

namespace mneme::record {

/// Large memory comes straight from the system, in huge pages where it has them.
struct Slab {
  std::shared_ptr<std::byte> memory;
  size_t sizeBytes = 0;
  artifact::DraftSlab asDraft() const { return {memory, {memory.get(), sizeBytes}}; }
};

/// \throws Error{OutOfMemory}
Slab makeSlab(size_t sizeBytes);

/// \throws Error{OutOfMemory} with a sentence when the machine has no `sizeBytes` to spare: an
/// application must not be killed because its memory was being recorded.
void checkHostMemory(uint64_t sizeBytes);

} // namespace mneme::record
