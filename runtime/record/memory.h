// Room record: every allocation of the application that a kernel could see.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/artifact/recording.h"
#include "runtime/record/window_allocator.h"

namespace mneme::record {

/// Whose memory an allocation is.
enum class Owner : uint8_t {
  Window,      ///< ours, at an address of our choice
  Vendor,      ///< the vendor's, at an address of its choice
  Application, ///< host memory of the application, registered with the vendor
};

struct Allocation {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
  artifact::RegionKind kind = artifact::RegionKind::Allocation;
  unsigned device = 0;
  Owner owner = Owner::Window;
  artifact::Annotation annotation;
  bool isImported = false; ///< memory of another process
  void* pool = nullptr;    ///< what the application took it from, if from a memory pool
};

struct Window {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
};

/// What lives where. Thread-safe.
class Memory {
public:
  struct Options {
    MakeBackend makeBackend; ///< empty: every allocation is the vendor's
    uint64_t windowBytes = 0;
    /// Whether the vendor's own allocations can be captured as well; if not, nothing can be
    /// recorded while one of them lives.
    bool capturesVendors = false;
    uint64_t idleBytesKept = ~0ull; ///< freed memory of a device that is not given back at once
  };
  explicit Memory(Options options);

  /// Null when the window cannot serve it: the caller asks the vendor then.
  void* allocate(uint64_t sizeBytes, artifact::RegionKind kind, unsigned device,
                 void* pool = nullptr);
  std::optional<Allocation> findExact(const void* pointer) const;
  /// The allocation of the window that holds this address.
  std::optional<Allocation> findServed(const void* inside) const;
  /// Whether an allocation of the window starts here.
  bool isServed(const void* pointer) const;
  /// Frees what allocate() served; false for anything else.
  bool release(const void* pointer);

  // The same in two steps, for memory that work already started may still use.
  /// Forgets an allocation but keeps its block taken.
  std::optional<Allocation> detach(const void* pointer);
  void giveBack(const Allocation& detached);
  /// Makes a detached block a live allocation again.
  void* attachAgain(const Allocation& detached, uint64_t sizeBytes, void* pool = nullptr);

  /// Forgets everything of one device, its window included; returns what it was. The next
  /// allocation makes a new window.
  std::vector<Allocation> reset(unsigned device);

  void noteForeign(const void* pointer, uint64_t sizeBytes,
                   artifact::RegionKind kind = artifact::RegionKind::Allocation,
                   unsigned device = 0);
  /// Memory of another process, on this device: as noteForeign(), but at no fault of the window.
  void noteImported(const void* pointer, uint64_t sizeBytes, unsigned device);
  void noteRegistered(const void* pointer, uint64_t sizeBytes);
  /// Forgets what noteForeign() or noteRegistered() said.
  void forget(const void* pointer);

  /// Memory that a graph's node allocates whenever the graph runs, until somebody frees it: known
  /// for good, there now and then.
  void noteOfGraph(const void* pointer);
  std::vector<uint64_t> graphMemory() const; ///< where it begins
  /// Whether this address is one that allocate() could return.
  bool isPlaced(uint64_t address) const;

  /// From now on device `user` may use what lives in the window of `owner`.
  void share(unsigned owner, unsigned user);
  /// What the window takes of the device's memory beyond what the vendor would have taken for the
  /// same allocations. Modulo 2^64: the vendor may take more.
  uint64_t excessBytes(unsigned device) const;
  /// Live bytes that the application took from this pool.
  uint64_t poolBytes(const void* pool) const;
  /// Whether the window has addresses for so much: what it does not serve then lacks memory.
  bool hasRoom(uint64_t sizeBytes, unsigned device) const;

  /// A write to the guards around the window of a device, by what its page tells: the nearest of
  /// the places it can be.
  struct StrayWrite {
    uint64_t distanceBytes = 0;
    bool isBehind = false; ///< the end of the allocation, else before it
    Allocation near;
  };
  std::optional<StrayWrite> nearestStray(unsigned device, uint64_t offsetInPage) const;
  /// Where the page of the guards can be read, if there are any; 0 bytes else.
  Window guardPage(unsigned device) const;

  bool annotate(const void* pointer, const artifact::Annotation& annotation);
  const artifact::Annotation* annotationOf(const void* pointer) const;

  /// A sentence when the present state cannot be captured, else empty.
  std::string whyNotCapturable() const;
  /// Live allocations that belong to every launch on `device`, by address: its own, managed ones,
  /// and host memory in the window.
  std::vector<artifact::Region> regions(unsigned device) const;
  /// Those that belong to a launch if a pointer leads to them: other host memory, and that of
  /// devices whose memory `device` may use. Of further devices those that one of `arguments` points
  /// into: in much memory there are numbers that look like their addresses.
  std::vector<artifact::Region> reachable(unsigned device,
                                          const std::vector<uint64_t>& arguments) const;
  Window window(unsigned device) const;
  /// Whether the vendor serves what the window should have: its addresses may not be granted again.
  bool hasForeign() const;
  /// Whether any allocation function of the vendor was ever seen.
  bool hasSeenAllocations() const noexcept;

  /// Held by fork() so that the child finds the lists whole.
  std::shared_mutex& mutex() noexcept { return mutex_; }

private:
  struct Place {
    std::unique_ptr<MemoryBackend> backend;
    std::unique_ptr<WindowAllocator> window;
  };
  WindowAllocator* windowOf(unsigned device);
  WindowAllocator* existingWindow(unsigned device) const;
  template <typename IsWanted> std::vector<artifact::Region> select(const IsWanted& isWanted) const;

  Options options_;
  mutable std::shared_mutex mutex_;
  std::map<unsigned, Place> places_;
  std::set<std::pair<unsigned, unsigned>> sharing_; ///< owner, user
  std::map<uint64_t, Allocation> live_;
  std::set<uint64_t> graphMemory_;
  bool isWindowRefused_ = false;
  bool hasSeenAllocations_ = false;
};

} // namespace mneme::record
