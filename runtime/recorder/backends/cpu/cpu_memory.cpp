#include <sys/mman.h>

#include "runtime/core/base/guard_page.h"
#include "runtime/recorder/memory_backend.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace mneme::record {
namespace {

class HostBackend final : public MemoryBackend {
public:
  uint64_t granularity() const override { return 2ull << 20; }

  bool reserve(uint64_t address, uint64_t sizeBytes) override {
    void* wanted = reinterpret_cast<void*>(address);
    void* granted = mmap(wanted, sizeBytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (granted == MAP_FAILED)
      return false;
    if (granted != wanted) // kernels before 4.17 take the flag for a hint
      munmap(granted, sizeBytes);
    return granted == wanted;
  }

  void release(uint64_t address, uint64_t sizeBytes) noexcept override {
    munmap(reinterpret_cast<void*>(address), sizeBytes);
  }

  bool map(uint64_t address, uint64_t sizeBytes) override {
    return mprotect(reinterpret_cast<void*>(address), sizeBytes, PROT_READ | PROT_WRITE) == 0;
  }

  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override {
    void* place = reinterpret_cast<void*>(address);
    madvise(place, sizeBytes, MADV_DONTNEED);
    mprotect(place, sizeBytes, PROT_NONE);
  }

  uint64_t guardPageBytes() const override { return kGuardPageBytes; }

  bool mapGuard(uint64_t address, uint64_t sizeBytes) override {
    return guard_.put(address, sizeBytes);
  }

  void unmapGuard(uint64_t address, uint64_t sizeBytes) noexcept override {
    GuardPage::remove(address, sizeBytes);
  }

private:
  GuardPage guard_;
};

} // namespace

std::unique_ptr<MemoryBackend> makeHostBackend() { return std::make_unique<HostBackend>(); }

} // namespace mneme::record
