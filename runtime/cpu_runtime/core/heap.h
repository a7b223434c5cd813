// Room cpu_runtime: memory as programs see it. Knows addresses, not the API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/guard_page.h"

namespace mneme::cpu_runtime {

enum class MemoryKind : int { Device = 0, Managed = 1, Host = 2 };

/// One allocation, or a range of somebody else's (adopted, registered by the application).
struct Block {
  uintptr_t base = 0;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::Device;
  bool isOwned = true;   ///< made by allocate()
  bool isCounted = true; ///< in usedBytes()
  unsigned flags = 0;    ///< flags the application gave
  void* pool = nullptr;  ///< memory pool of an asynchronous allocation
  bool isPart = false;   ///< goes on in the block behind it, if that is a part, too
};

/// Reserves `bytes` of address space without memory, at `address` if that is free, else anywhere.
/// Null when not even that is granted.
void* reserveAddresses(uintptr_t address, size_t bytes) noexcept;

/// Serves allocations from one window, reserved at the first of them, at a fixed place
/// (0x7c0000000000, 1 TiB; kHeapAddressVariable chooses another), so that one program gets the
/// same addresses run after run. Memory is committed per allocation; freed allocations above 32 KiB
/// fault when touched. Before the first allocation and behind the last one lie zeros, as far as
/// kernels read outside by mistake that are right on GPUs (base/guard_page.h). Thread-safe. Never
/// destroyed: static destructors of the program may still free memory.
class Heap {
public:
  static Heap& instance();

  /// 256-byte aligned (4 KiB above 32 KiB). Null when the machine's memory is used up.
  void* allocate(size_t bytes, MemoryKind kind, unsigned flags = 0, void* pool = nullptr);
  /// Frees an allocation of one of the kinds; false if `pointer` is not the base of one.
  bool release(void* pointer, bool (*accepts)(const Block&));
  /// Frees everything allocate() made.
  void releaseAll();

  /// The range that holds `pointer`, owned or adopted.
  std::optional<Block> find(const void* pointer) const;
  /// False if [pointer, pointer + bytes) leaves the allocation it starts in, or lies in the window
  /// where nothing is allocated. Foreign memory is taken as valid.
  bool isAccessible(const void* pointer, size_t bytes) const;

  /// Notes a range of foreign memory; false if it overlaps a known one.
  bool adopt(const void* base, size_t bytes, MemoryKind kind, unsigned flags);
  /// Notes memory that another library serves in place of allocate(): it counts as used. False if
  /// it overlaps a known range or the machine's memory is used up. `isPart`: of memory that is
  /// mapped piece by piece.
  bool adoptServed(const void* base, size_t bytes, MemoryKind kind, bool isPart = false);
  bool disown(const void* base);

  size_t usedBytes() const;
  size_t usedBytes(const void* pool) const;
  size_t totalBytes() const noexcept { return totalBytes_; }

private:
  Heap();
  /// How far a part of the window was ever allocated, and guarded.
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
