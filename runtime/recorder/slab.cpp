#include "runtime/recorder/slab.h"

#include <cerrno>

#include <sys/mman.h>

#include "runtime/core/artifact/machine_share.h"
#include "runtime/core/base/error.h"
#include "runtime/recorder/summary.h"

namespace mneme::record {
namespace {

constexpr size_t kHugePageBytes = 2ull << 20;
constexpr uint64_t kUncheckedBytes = 256ull << 20; ///< what any machine that runs this has

} // namespace

void checkHostMemory(uint64_t sizeBytes) {
  if (sizeBytes <= kUncheckedBytes)
    return;
  const uint64_t available = artifact::availableMemory().value_or(~0ull);
  if (sizeBytes > available / 10 * 9)
    throw Error(ErrorCode::OutOfMemory, "its memory holds " + formatBytes(sizeBytes) +
                                            " of new content, but the host has only " +
                                            formatBytes(available) + " of memory available");
}

Slab makeSlab(size_t sizeBytes) {
  if (sizeBytes < kHugePageBytes)
    return {std::shared_ptr<std::byte>(new std::byte[sizeBytes],
                                       [](std::byte* memory) { delete[] memory; }),
            sizeBytes};
  const size_t whole = (sizeBytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  void* memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorCode::OutOfMemory,
                systemMessage("no memory for " + formatBytes(sizeBytes) + " of content", errno));
  madvise(memory, whole, MADV_HUGEPAGE);
  return {std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                     [whole](std::byte* place) { munmap(place, whole); }),
          sizeBytes};
}

} // namespace mneme::record
