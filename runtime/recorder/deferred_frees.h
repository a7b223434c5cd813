// Room recorder: memory that the application has freed in stream order while the stream may still
// use it.
#pragma once

#include <list>
#include <mutex>

#include "runtime/recorder/device_memory.h"
#include "runtime/recorder/record_backend.h"

namespace mneme::record {

/// Blocks that are no longer allocations of the application but not yet free. Thread-safe.
class DeferredFrees {
public:
  DeferredFrees(Backend& backend, Memory& memory) : backend_(backend), memory_(memory) {}

  /// Frees `detached` when the present work of `stream` is done. Returns false if that cannot be
  /// detected: the caller then waits itself.
  bool add(const Allocation& detached, void* stream);
  /// Frees blocks whose streams have finished.
  void collect();
  /// Waits for and frees all blocks of the device.
  void waitFor(unsigned device);
  /// Returns a block of this size that was freed in the order of the same stream: later work on
  /// this stream can use it at once. Null if there is none.
  void* reuse(uint64_t sizeBytes, unsigned device, void* stream, void* pool = nullptr);
  /// Call it when the device is reset: its blocks and marks are gone.
  void forget(unsigned device);

  /// Like Memory::mutex(); it is locked before that.
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
