// Room emulator/runtimes: the program's device memory. Works on addresses, independently of the
// API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "runtime/core/base/guard_page.h"

namespace mneme::cpu_runtime {

enum class MemoryKind : int { Device = 0, Managed = 1, Host = 2 };

/// An allocation, or a range of foreign memory (adopted, or registered by the application).
struct Block {
  uintptr_t base = 0;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::Device;
  bool isOwned = true;   ///< made by allocate()
  bool isCounted = true; ///< in usedBytes()
  unsigned flags = 0;    ///< the application's flags
  void* pool = nullptr;  ///< memory pool of an asynchronous allocation
  bool isPart = false;   ///< continues in the next block, if that is a part too
};

/// Reserves `bytes` of address space without memory, at `address` if that is free, otherwise
/// anywhere. Returns null if the system refuses.
void* reserveAddresses(uintptr_t address, size_t bytes) noexcept;

/// Serves allocations from one window at a fixed place (0x7c0000000000, 1 TiB; kHeapAddressVariable
/// chooses another), which is reserved at the first allocation, so that a program gets the same
/// addresses in every run. Memory is committed per allocation; freed allocations above 32 KiB fault
/// when accessed. Zeros lie before the first allocation and after the last one, for kernels that
/// read slightly out of bounds without consequences on GPUs (base/guard_page.h). Thread-safe. Never
/// destroyed, because static destructors of the program may still free memory.
class Heap {
public:
  static Heap& instance();

  /// Aligned to 256 bytes (4 KiB for sizes above 32 KiB). Returns null if the machine has no memory
  /// left.
  void* allocate(size_t bytes, MemoryKind kind, unsigned flags = 0, void* pool = nullptr);
  /// Frees an allocation that `accepts` approves; returns false if `pointer` is not the base of
  /// one.
  bool release(void* pointer, bool (*accepts)(const Block&));
  /// Frees everything that allocate() returned.
  void releaseAll();

  /// Returns the owned or adopted range that contains `pointer`.
  std::optional<Block> find(const void* pointer) const;
  /// Returns false if [pointer, pointer + bytes) leaves the allocation it starts in, or lies in an
  /// unallocated part of the window. Foreign memory is assumed to be valid.
  bool isAccessible(const void* pointer, size_t bytes) const;

  /// Adds a range of foreign memory; returns false if it overlaps a known range.
  bool adopt(const void* base, size_t bytes, MemoryKind kind, unsigned flags);
  /// Adds memory that another library provides instead of allocate(); it counts as used. Returns
  /// false if it overlaps a known range or the machine has no memory left. `isPart`: it is part of
  /// memory that is mapped piece by piece.
  bool adoptServed(const void* base, size_t bytes, MemoryKind kind, bool isPart = false);
  bool disown(const void* base);

  size_t usedBytes() const;
  size_t usedBytes(const void* pool) const;
  size_t totalBytes() const noexcept { return totalBytes_; }

private:
  Heap();
  /// The limits up to which a part of the window was ever allocated and guarded.
  struct Frontier {
    uintptr_t used = 0;
    uintptr_t guarded = 0;
    uintptr_t end = 0; ///< of the part
  };
  void reserveWindow();
  void advance(Frontier& frontier, uintptr_t used);
  void* takeSmall(size_t bytes);
  void* takeLarge(size_t bytes);
  void giveBack(const Block& block);
  bool note(const Block& block);
  void insertFree(uintptr_t base, size_t bytes);

  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
  std::map<uintptr_t, size_t> freeLarge_;
  std::unordered_map<size_t, std::vector<uintptr_t>> freeSmall_;
  uintptr_t window_ = 0;
  size_t windowBytes_ = 0;
  uintptr_t smallNext_ = 0;
  uintptr_t smallCommitted_ = 0;
  uintptr_t smallEnd_ = 0;
  GuardPage guard_;
  Frontier small_, large_;
  size_t usedBytes_ = 0;
  size_t totalBytes_ = 0;
};

} // namespace mneme::cpu_runtime
