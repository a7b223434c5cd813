// Room base: memory for kernels that read a little outside of what their program allocated. Vendors
// map whole pages around small allocations, so such reads are harmless in production.
#pragma once

#include <cstdint>

namespace mneme {

/// So far around device memory reads find zeros, and what is written there is found. Beside small
/// allocations an H100 had memory of its driver 64 MiB before and up to 2 MiB behind
/// (driver 580, 2026-11-26); programs that read further than this were not seen.
inline constexpr uint64_t kGuardBytes = 32ull << 20;

/// 2 MiB: the smallest page that NVIDIA's drivers map.
inline constexpr uint64_t kGuardPageBytes = 2ull << 20;

/// One page of host memory that is at many places at once: what is written at one of them is read
/// at all. Needs no file descriptor. Not thread-safe.
class GuardPage {
public:
  GuardPage() noexcept = default;
  ~GuardPage();
  GuardPage(const GuardPage&) = delete;
  GuardPage& operator=(const GuardPage&) = delete;

  /// Puts it at [address, address + sizeBytes), whole pages of the system, in place of what is
  /// mapped there: a byte lies at its address modulo kGuardPageBytes. False, and nothing is
  /// accessible there, where the system does not grant it.
  bool put(uint64_t address, uint64_t sizeBytes, bool isWritable = true) noexcept;
  /// Makes a range that put() filled inaccessible again, but keeps it reserved.
  static void remove(uint64_t address, uint64_t sizeBytes) noexcept;

private:
  bool make() noexcept;

  unsigned char* page_ = nullptr;
  bool isRefused_ = false;
};

// Of what is written only the offset in the page is known: how far the next place with this offset
// is from an allocation.
constexpr uint64_t distanceBehind(uint64_t end, uint64_t offsetInPage) noexcept {
  return (offsetInPage - end) % kGuardPageBytes;
}
constexpr uint64_t distanceBefore(uint64_t begin, uint64_t offsetInPage) noexcept {
  return (begin - offsetInPage - 1) % kGuardPageBytes + 1;
}

} // namespace mneme
