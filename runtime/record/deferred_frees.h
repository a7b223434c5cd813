// Room record: memory the application has freed in the order of a stream that still works with it.
#pragma once

#include <list>
#include <mutex>

#include "runtime/record/backend.h"
#include "runtime/record/memory.h"

namespace mneme::record {

/// Blocks that are no longer allocations of the application and not yet free. Thread-safe.
class DeferredFrees {
public:
  DeferredFrees(Backend& backend, Memory& memory) : backend_(backend), memory_(memory) {}

  /// Frees `detached` when what `stream` has to do now is done. False if that cannot be known: the
  /// caller waits itself.
  bool add(const Allocation& detached, void* stream);
  /// Frees what is done.
  void collect();
  /// Frees everything of the device when it is done.
  void waitFor(unsigned device);
  /// A block of this size that is freed in the order of the same stream: work that comes later on
  /// it may have it at once. Null if there is none.
  void* reuse(uint64_t sizeBytes, unsigned device, void* stream, void* pool = nullptr);
  /// The device is reset: blocks and marks are gone with it.
  void forget(unsigned device);

  /// As Memory::mutex(), before which it is taken.
  std::mutex& mutex() noexcept { return mutex_; }

private:
  struct Waiting {
    Allocation block;
    void* stream = nullptr;
    void* mark = nullptr;
  };
  Backend& backend_;
  Memory& memory_;
  std::mutex mutex_;
  std::list<Waiting> waiting_;
  std::vector<void*> unneeded_; ///< marks of reused blocks
};

} // namespace mneme::record
