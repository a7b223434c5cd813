// Room recorder: every allocation of the application that a kernel could access.
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

#include "runtime/core/artifact/recording.h"
#include "runtime/recorder/mapped_memory.h"
#include "runtime/recorder/window_allocator.h"
#include "runtime/recorder/work_place.h"

namespace mneme::record {

/// The owner of an allocation's memory.
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
  std::vector<artifact::AnnotatedPart> parts = {}; ///< ascending
  bool isImported = false;                         ///< memory of another process
  void* pool = nullptr;    ///< the memory pool that the application took it from, if any
  void* context = nullptr; ///< WorkPlace::context where it was allocated: it ends with it
};

/// Whether a number can be an address at all: below and above are numbers that lead nowhere.
constexpr bool mayBeAddress(uint64_t number) noexcept {
  constexpr uint64_t kFirst = 1 << 16, kLast = (1ull << 57) - 1;
  return number >= kFirst && number <= kLast;
}

struct Window {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
};

/// All allocations. Thread-safe.
class Memory {
public:
  struct Options {
    MakeBackend makeBackend; ///< empty: every allocation is the vendor's
    uint64_t windowBytes = 0;
    /// Whether the vendor's own allocations can be captured as well. If not, nothing can be
    /// recorded while one of them lives.
    bool capturesVendors = false;
    uint64_t idleBytesKept = ~0ull; ///< how much freed memory of a device is kept for reuse
  };
  explicit Memory(Options options);

  /// Returns null if the window cannot serve it: the caller then asks the vendor.
  void* allocate(uint64_t sizeBytes, artifact::RegionKind kind, unsigned device,
                 void* pool = nullptr);
  std::optional<Allocation> findExact(const void* pointer) const;
  /// Returns the allocation of the window that contains this address.
  std::optional<Allocation> findServed(const void* inside) const;
  /// Whether this address is inside of any allocation, or of memory that the application mapped.
  bool isInAllocation(uint64_t address) const;
  /// Whether an allocation of the window starts here.
  bool isServed(const void* pointer) const;
  /// Frees memory that allocate() served. Returns false for any other memory.
  bool release(const void* pointer);

  // The same in two steps, for memory that running work may still use.
  /// Forgets an allocation but keeps its block taken.
  std::optional<Allocation> detach(const void* pointer);
  void giveBack(const Allocation& detached);
  /// Makes a detached block a live allocation again.
  void* attachAgain(const Allocation& detached, uint64_t sizeBytes, void* pool = nullptr);

  /// Forgets all allocations of one device and its window, but for those of contexts that the
  /// program made itself. Returns the allocations. The next allocation makes a new window.
  std::vector<Allocation> reset(unsigned device);
  /// Forgets all allocations of a context that the program made itself.
  void forgetContext(const void* context);

  void noteForeign(const void* pointer, uint64_t sizeBytes,
                   artifact::RegionKind kind = artifact::RegionKind::Allocation,
                   const WorkPlace& place = {});
  /// Notes memory of another process at this place: like noteForeign(), but not because the window
  /// failed.
  void noteImported(const void* pointer, uint64_t sizeBytes, const WorkPlace& place);
  void noteRegistered(const void* pointer, uint64_t sizeBytes, const WorkPlace& place = {});
  /// Forgets memory noted by noteForeign() or noteRegistered().
  void forget(const void* pointer);

  /// Notes memory that a graph's node allocates whenever the graph runs. The address stays known;
  /// the memory exists only until it is freed.
  void noteOfGraph(const void* pointer);
  std::vector<uint64_t> graphMemory() const; ///< its addresses
  // Memory that the application maps itself: see MappedMemory.
  uint64_t placeMapped(uint64_t sizeBytes, uint64_t alignment);
  void noteMapped(uint64_t address, uint64_t sizeBytes, bool isReadable);
  void forgetMapped(uint64_t address, uint64_t sizeBytes);
  bool isUnreadable(uint64_t address) const;
  MappedMemory mapped() const;

  /// Whether this address is one that allocate() could return.
  bool isPlaced(uint64_t address) const;

  /// Lets device `user` use the allocations in the window of `owner` from now on.
  void share(unsigned owner, unsigned user);
  /// Returns how much more device memory the window takes than the vendor would have taken for the
  /// same allocations. Modulo 2^64: the vendor may take more.
  uint64_t excessBytes(unsigned device) const;
  /// Returns how many live bytes the application took from this pool.
  uint64_t poolBytes(const void* pool) const;
  /// Whether the window has free addresses for this size. If it has and allocate() fails, memory is
  /// exhausted.
  bool hasRoom(uint64_t sizeBytes, unsigned device) const;

  /// A write to the guards around the window of a device. Only the offset in the guard page is
  /// known; this is the nearest possible place.
  struct StrayWrite {
    uint64_t distanceBytes = 0;
    bool isBehind = false; ///< after the end of the allocation, else before its begin
    Allocation near;
  };
  std::optional<StrayWrite> nearestStray(unsigned device, uint64_t offsetInPage) const;
  /// Returns where the guard page can be read; 0 bytes if there are no guards.
  Window guardPage(unsigned device) const;

  bool annotate(const void* pointer, const artifact::Annotation& annotation);
  /// Annotates a part of an allocation; returns why that cannot be, empty if it is done.
  std::string annotatePart(const void* begin, uint64_t sizeBytes,
                           const artifact::Annotation& annotation);
  const artifact::Annotation* annotationOf(const void* pointer) const;

  /// Returns why the present state cannot be captured; empty if it can.
  std::string whyNotCapturable() const;
  /// Returns the live allocations that belong to every launch at `place`, by address: those of the
  /// place, managed ones, and host memory in the window.
  std::vector<artifact::Region> regions(const WorkPlace& place) const;
  /// Regions that belong to a launch if a pointer leads to them: other host memory, and memory of
  /// devices that the place's may use. Memory of further devices and contexts is included only if
  /// one of `arguments` points into it: large memory contains numbers that merely look like its
  /// addresses.
  std::vector<artifact::Region> reachable(const WorkPlace& place,
                                          const std::vector<uint64_t>& arguments) const;
  Window window(unsigned device) const;
  /// Whether the vendor serves memory that the window should serve: its addresses may not be
  /// granted in a replay. Memory of contexts that the program made itself does not count.
  bool hasForeign() const;
  /// Whether any allocation function of the vendor was ever called.
  bool hasSeenAllocations() const noexcept;

  /// fork() locks it so that the child's lists are consistent.
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
  MappedMemory mapped_;
  bool isWindowRefused_ = false;
  bool hasSeenAllocations_ = false;
};

} // namespace mneme::record
