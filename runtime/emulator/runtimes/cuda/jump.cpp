#include "runtime/emulator/runtimes/cuda/jump.h"

#include <array>
#include <cstring>

namespace mneme::cpu_runtime::cuda {
namespace {

using Code = unsigned char;
constexpr std::array<Code, 4> kMark = {0xf3, 0x0f, 0x1e, 0xfa}; // endbr64
/// jmp *(%rip): to the address behind it. No register changes.
constexpr std::array<Code, 6> kJump = {0xff, 0x25, 0, 0, 0, 0};

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
  std::memcpy(at, kJump.data(), kJump.size());
  std::memcpy(at + kJump.size(), &target, sizeof target);
}

bool isJump(const void* function) noexcept {
  const auto* const code = static_cast<const Code*>(function);
  return std::memcmp(code + markBytes(code), kJump.data(), kJump.size()) == 0;
}

} // namespace mneme::cpu_runtime::cuda
