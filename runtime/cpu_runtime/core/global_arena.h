// Room cpu_runtime: where device globals live. A fixed place in the address space, handed out
// in registration order, so that a recording of one run matches the addresses of the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace mneme::cpu_runtime {

/// 64 GiB at 0x7e0000000000 (kGlobalsAddressVariable chooses another place; anywhere if that
/// is taken). The lower half serves globals the host program registers, whose order is that of its
/// static initialisers; the upper half serves those only kernels know, in order of first use.
/// Storage is zeroed, 256-byte aligned and never given back. Thread-safe.
class GlobalArena {
public:
  static GlobalArena& instance();
  /// Null when the arena is full or memory is refused.
  void* allocate(size_t bytes, size_t alignment, bool isRegistered);

private:
  GlobalArena();
  struct Half {
    uintptr_t next = 0;
    uintptr_t committed = 0;
    uintptr_t end = 0;
  };
  std::mutex mutex_;
  Half registered_;
  Half internal_;
};

} // namespace mneme::cpu_runtime
