// Room core/base: memory for kernels that read slightly outside of their program's allocations.
// Vendors map whole pages around small allocations, so such reads are harmless in production.
#pragma once

#include <cstdint>

namespace mneme {

/// Within this distance of device memory, reads return zeros and writes are detected. Next to small
/// allocations an H100 had memory of its driver 64 MiB before and up to 2 MiB behind (driver 580,
/// 2026-11-26); no program was seen that reads further than this.
inline constexpr uint64_t kGuardBytes = 32ull << 20;

/// 2 MiB: the smallest page that NVIDIA's drivers map.
inline constexpr uint64_t kGuardPageBytes = 2ull << 20;

/// One page of host memory that is mapped at many addresses: a write to one of them is visible at
/// all. Needs no file descriptor. Not thread-safe.
class GuardPage {
public:
  GuardPage() noexcept = default;
  ~GuardPage();
  GuardPage(const GuardPage&) = delete;
  GuardPage& operator=(const GuardPage&) = delete;

  /// Maps it at [address, address + sizeBytes), which must be whole pages of the system, and
  /// replaces what is mapped there. An address shows the byte at the address modulo
  /// kGuardPageBytes. Returns false if the system refuses; then nothing is accessible there.
  bool put(uint64_t address, uint64_t sizeBytes, bool isWritable = true) noexcept;
  /// Makes a range that put() filled inaccessible again, but keeps it reserved.
  static void remove(uint64_t address, uint64_t sizeBytes) noexcept;

private:
  bool make() noexcept;

  unsigned char* page_ = nullptr;
  bool isRefused_ = false;
};

// Only the offset in the page is known of a stray write. These functions return how far the nearest
// address with this offset is from an allocation.
constexpr uint64_t distanceBehind(uint64_t end, uint64_t offsetInPage) noexcept {
  return (offsetInPage - end) % kGuardPageBytes;
}
constexpr uint64_t distanceBefore(uint64_t begin, uint64_t offsetInPage) noexcept {
  return (begin - offsetInPage - 1) % kGuardPageBytes + 1;
}

} // namespace mneme
