#include "runtime/core/base/guard_page.h"

#include <algorithm>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mneme {
namespace {

void* pointerTo(uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

/// Whether memory is mapped a second time, at `to`: an old size of 0 asks for that. The kernel is
/// asked directly, for UCX, which MPI libraries use, replaces mremap() by a function that knows no
/// new address.
bool mapAgain(void* from, uint64_t sizeBytes, void* to) noexcept {
  const long mapped = syscall(SYS_mremap, from, 0, sizeBytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
  return mapped == reinterpret_cast<long>(to);
}

} // namespace

GuardPage::~GuardPage() {
  if (page_)
    munmap(page_, kGuardPageBytes);
}

bool GuardPage::make() noexcept {
  if (page_ || isRefused_)
    return page_;
  void* page =
      mmap(nullptr, kGuardPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  isRefused_ = page == MAP_FAILED;
  if (isRefused_)
    return false;
  madvise(page, kGuardPageBytes, MADV_DONTDUMP); // else a core file has it once for each place
  page_ = static_cast<unsigned char*>(page);
  return true;
}

bool GuardPage::put(uint64_t address, uint64_t sizeBytes, bool isWritable) noexcept {
  if (!make())
    return false;
  const uint64_t end = address + sizeBytes;
  for (uint64_t at = address; at < end;) {
    const uint64_t offset = at % kGuardPageBytes;
    const uint64_t bytes = std::min(kGuardPageBytes - offset, end - at);
    if (!mapAgain(page_ + offset, bytes, pointerTo(at))) {
      isRefused_ = true;
      remove(address, sizeBytes);
      return false;
    }
    at += bytes;
  }
  if (isWritable || mprotect(pointerTo(address), sizeBytes, PROT_READ) == 0)
    return true;
  remove(address, sizeBytes);
  return false;
}

void GuardPage::remove(uint64_t address, uint64_t sizeBytes) noexcept {
  mmap(pointerTo(address), sizeBytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

} // namespace mneme
