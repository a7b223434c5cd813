// Room record: every allocation of the application that a kernel could see.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"
#include "runtime/record/window_allocator.h"

namespace mneme::record {

struct Allocation {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
  artifact::RegionKind kind = artifact::RegionKind::Allocation;
  unsigned device = 0;
  bool isRegistered = false; ///< host memory of the application itself
  artifact::Annotation annotation;
};

struct Window {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
};

/// What lives where. Allocations from the windows are ours; those the vendor had to serve are known
/// by address only, and while one of them lives nothing can be recorded. Thread-safe.
class Memory {
public:
  /// `backend` null: this runtime's memory cannot be placed, every allocation is the vendor's.
  Memory(std::unique_ptr<MemoryBackend> backend, uint64_t windowBytes);

  /// Null when the window cannot serve it: the caller asks the vendor then.
  void* allocate(uint64_t sizeBytes, artifact::RegionKind kind, unsigned device);
  std::optional<Allocation> findExact(const void* pointer) const;
  std::optional<Allocation> findContaining(uint64_t address) const;
  bool release(const void* pointer);
  /// Forgets everything of one device; returns what it was.
  std::vector<Allocation> reset(unsigned device);

  void noteForeign(const void* pointer, uint64_t sizeBytes);
  void forgetForeign(const void* pointer);
  void noteRegistered(const void* pointer, uint64_t sizeBytes);
  void forgetRegistered(const void* pointer);

  bool annotate(const void* pointer, const artifact::Annotation& annotation);
  const artifact::Annotation* annotationOf(const void* pointer) const;

  /// A sentence when the present state cannot be captured, else empty.
  std::string whyNotCapturable() const;
  /// Live allocations of `device` (host kinds included), by address; registered host memory only
  /// where one of `pointers` points into it.
  std::vector<artifact::Region> regions(unsigned device,
                                        const std::vector<uint64_t>& pointers) const;
  Window window(unsigned device) const;
  const MemoryBackend* backend() const noexcept { return backend_.get(); }
  /// Whether any allocation function of the vendor was ever seen.
  bool hasSeenAllocations() const noexcept;

  /// Held by fork() so that the child finds the lists whole.
  std::shared_mutex& mutex() noexcept { return mutex_; }

private:
  WindowAllocator* windowOf(unsigned device);
  std::unique_ptr<MemoryBackend> backend_;
  uint64_t windowBytes_;
  mutable std::shared_mutex mutex_;
  std::map<unsigned, std::unique_ptr<WindowAllocator>> windows_;
  std::map<uint64_t, Allocation> live_;
  std::map<uint64_t, uint64_t> foreign_;
  bool isWindowRefused_ = false;
  bool hasSeenAllocations_ = false;
};

} // namespace mneme::record
