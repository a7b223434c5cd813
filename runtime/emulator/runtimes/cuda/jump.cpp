#include "runtime/emulator/runtimes/cuda/jump.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace mneme::cpu_runtime::cuda {
namespace {

using Code = unsigned char;
constexpr std::array<Code, 4> kMark = {0xf3, 0x0f, 0x1e, 0xfa}; // endbr64
/// jmp *(%rip): to the address behind it. No register changes.
constexpr std::array<Code, 6> kJump = {0xff, 0x25, 0, 0, 0, 0};

/// A jump to itself, of two bytes.
constexpr std::array<Code, 2> kWait = {0xeb, 0xfe};

/// In one store, but at an odd address, where no compiler places a function.
void storeTwo(Code* at, const Code* bytes) noexcept {
  uint16_t both = 0;
  std::memcpy(&both, bytes, sizeof both);
  if (reinterpret_cast<uintptr_t>(at) % sizeof both == 0)
    std::atomic_ref(*reinterpret_cast<uint16_t*>(at)).store(both, std::memory_order_seq_cst);
  else
    std::memcpy(at, &both, sizeof both);
}

size_t markBytes(const Code* function) noexcept {
  return std::memcmp(function, kMark.data(), kMark.size()) == 0 ? kMark.size() : 0;
}

} // namespace

bool hasJumps() noexcept {
#ifdef __x86_64__
  return true;
#else
  return false;
#endif
}

size_t jumpBytes(const void* function) noexcept {
  return markBytes(static_cast<const Code*>(function)) + kJump.size() + sizeof(void*);
}

void writeJump(void* function, const void* target) noexcept {
  auto* const at = static_cast<Code*>(function) + markBytes(static_cast<const Code*>(function));
  constexpr size_t kFirst = kWait.size();
  storeTwo(at, kWait.data());
  std::memcpy(at + kFirst, kJump.data() + kFirst, kJump.size() - kFirst);
  std::memcpy(at + kJump.size(), &target, sizeof target);
  storeTwo(at, kJump.data());
}

bool isJump(const void* function) noexcept {
  const auto* const code = static_cast<const Code*>(function);
  return std::memcmp(code + markBytes(code), kJump.data(), kJump.size()) == 0;
}

} // namespace mneme::cpu_runtime::cuda
