// Room jit: maps host handles to kernels. Read at every launch without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/core/abi/mneme_rt.h"

namespace mneme::jit {

class Kernel;

/// Entries and outgrown tables stay until the process ends, so that readers need no protection.
/// Their total size is bounded by twice the number of handles there ever were.
class KernelTable {
public:
  KernelTable();

  /// Returns null for an unknown handle. May be called by any thread at any time.
  Kernel* find(const void* handle) const noexcept {
    const Slots& slots = *slots_.load(std::memory_order_acquire);
    for (size_t i = startOf(handle, slots.mask);; i = (i + 1) & slots.mask) {
      const Entry* entry = slots.entries[i].load(std::memory_order_acquire);
      if (!entry)
        return nullptr;
      if (entry->handle == handle)
        return entry->kernel.load(std::memory_order_acquire);
    }
  }

  /// `kernel` must live as long as the process. `module` is null for a kernel of no instrumented
  /// unit.
  void insert(const void* handle, const mneme_module_entry* module, Kernel* kernel);
  /// Forgets the handles of a unit, and those of no unit: they may be used again for other kernels.
  void forget(const mneme_module_entry* module);

private:
  struct Entry {
    const void* handle;
    std::atomic<Kernel*> kernel;
    const mneme_module_entry* module; ///< guarded by mutex_
  };
  struct Slots {
    size_t mask = 0;
    std::vector<std::atomic<Entry*>> entries; ///< at most half are used
  };

  static size_t startOf(const void* handle, size_t mask) noexcept {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    return static_cast<size_t>((value * 0x9E3779B97F4A7C15ull) >> 32) & mask;
  }
  static void put(Slots& slots, Entry* entry);
  Slots& addSlots(size_t size);

  std::atomic<Slots*> slots_;
  std::mutex mutex_; ///< of writers
  std::vector<std::unique_ptr<Slots>> allSlots_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

} // namespace mneme::jit
