#include "runtime/emulator/runtimes/core/global_arena.h"

#include <algorithm>
#include <cstdlib>

#include <sys/mman.h>

#include "runtime/core/base/address_space.h"
#include "runtime/core/base/environment.h"
#include "runtime/emulator/executor/runtime_variables.h"
#include "runtime/emulator/runtimes/core/heap.h"

namespace mneme::cpu_runtime {
namespace {

constexpr uintptr_t kArenaAddress = 0x7e0000000000;
constexpr size_t kHalfBytes = size_t{32} << 30;
constexpr size_t kSmallestHalf = size_t{32} << 20;
constexpr size_t kCommitBytes = 64 * 1024;
constexpr size_t kAlignment = 256;

uintptr_t roundUp(uintptr_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

GlobalArena& GlobalArena::instance() {
  static GlobalArena* arena = new GlobalArena;
  return *arena;
}

GlobalArena::GlobalArena() {
  const char* text = environmentValue(kGlobalsAddressVariable);
  const uintptr_t wanted = text ? roundUp(std::strtoull(text, nullptr, 0), kCommitBytes) : 0;
  void* base = nullptr;
  size_t half = std::max<size_t>(shareOfAddresses(kHalfBytes, 32) / kCommitBytes * kCommitBytes,
                                 kSmallestHalf);
  while (!(base = reserveAddresses(wanted ? wanted : kArenaAddress, 2 * half))) {
    half /= 2;
    if (half < kSmallestHalf)
      return;
  }
  const auto start = reinterpret_cast<uintptr_t>(base);
  registered_ = {start, start, start + half};
  internal_ = {start + half, start + half, start + 2 * half};
}

void* GlobalArena::allocate(size_t bytes, size_t alignment, bool isRegistered) {
  const std::lock_guard lock(mutex_);
  Half& half = isRegistered ? registered_ : internal_;
  const uintptr_t base = roundUp(half.next, std::max(alignment, kAlignment));
  if (base > half.end || bytes > half.end - base)
    return nullptr;
  const uintptr_t end = roundUp(base + std::max<size_t>(bytes, 1), kCommitBytes);
  if (end > half.committed) {
    if (mprotect(reinterpret_cast<void*>(half.committed), end - half.committed,
                 PROT_READ | PROT_WRITE) != 0)
      return nullptr;
    half.committed = end;
  }
  half.next = base + std::max<size_t>(bytes, 1);
  return reinterpret_cast<void*>(base);
}

} // namespace mneme::cpu_runtime
