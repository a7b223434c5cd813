// Room emulator/runtimes: memory for device globals. It lies at a fixed place in the address space
// and is handed out in registration order, so that a recording of one run matches the addresses of
// the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace mneme::cpu_runtime {

/// 64 GiB at 0x7e0000000000 (kGlobalsAddressVariable chooses another place; if the place is taken,
/// anywhere). The lower half is for globals that the host program registers, in the order of its
/// static initialisers; the upper half is for those that only kernels know, in order of first use.
/// Storage is zeroed, aligned to 256 bytes and never freed. Thread-safe.
class GlobalArena {
public:
  static GlobalArena& instance();
  /// Returns null if the arena is full or the system refuses memory.
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
