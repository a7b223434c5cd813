// Room emulator/runtimes: virtual memory management of the HIP API, for the stand-in. Memory comes
// into being where it is mapped and goes where it is unmapped: what a handle held does not outlive
// that.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "tests/hip_stand_in/stand_in.h"

using namespace mneme::stand_in;

namespace {

constexpr size_t kGranularity = 4096, kRecommendedGranularity = 2 << 20;
constexpr int kMappedPart = 3; // of mneme_hiprt_adopt()
constexpr int kReadWrite = 3;  // hipMemAccessFlagsProtReadWrite

struct Location {
  int type; ///< 1: a device
  int id;
};
struct AccessDesc {
  Location location;
  int flags;
};

struct Memory {
  size_t bytes = 0;
  bool isReleased = false;
  bool isMapped = false;
};

struct Mapping {
  size_t bytes = 0;
  Memory* memory = nullptr;
  bool isAdopted = false;
};

struct State {
  std::mutex mutex;
  std::map<uintptr_t, size_t> reserved;
  std::map<uintptr_t, Mapping> mapped;
  std::map<Memory*, std::unique_ptr<Memory>> memories;
};

State& state() {
  static auto* const made = new State;
  return *made;
}

bool isWhole(size_t bytes) { return bytes != 0 && bytes % kGranularity == 0; }

void* asPointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

/// In one entry of a table by addresses.
template <typename Table, typename SizeOf>
auto holder(Table& table, uintptr_t address, size_t bytes, const SizeOf& sizeOf) {
  auto found = table.upper_bound(address);
  if (found == table.begin())
    return table.end();
  --found;
  return address - found->first < sizeOf(found->second) &&
                 bytes <= sizeOf(found->second) - (address - found->first)
             ? found
             : table.end();
}

bool overlapsMapping(uintptr_t address, size_t bytes) {
  const auto& mapped = state().mapped;
  const auto next = mapped.lower_bound(address);
  if (next != mapped.end() && next->first < address + bytes)
    return true;
  return next != mapped.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address;
}

/// What versions 7.0 to 7.2 ask of hipMemSetAccess(): the sizes of the reservation's mappings come
/// to `bytes` from the first one on, whatever the address.
bool isPrefix(uintptr_t address, size_t bytes) {
  if (versionAskedFor() < 70000000 || versionAskedFor() >= 70300000)
    return true;
  const auto reservation = std::prev(state().reserved.upper_bound(address));
  size_t sum = 0;
  for (auto mapping = state().mapped.lower_bound(reservation->first);
       mapping != state().mapped.end() && sum < bytes; ++mapping)
    sum += mapping->second.bytes;
  return sum == bytes;
}

bool makeInaccessible(uintptr_t address, size_t bytes) {
  return mmap(asPointer(address), bytes, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void dropIfUnused(Memory* memory) {
  if (memory->isReleased && !memory->isMapped)
    state().memories.erase(memory);
}

} // namespace

MNEME_STAND_IN(hipMemGetAllocationGranularity)(size_t* granularity, const void* properties,
                                               int option) {
  if (!granularity || !properties || option < 0 || option > 1)
    return kInvalidValue;
  *granularity = option == 0 ? kGranularity : kRecommendedGranularity;
  return kSuccess;
}

MNEME_STAND_IN(hipMemAddressReserve)(void** pointer, size_t bytes, size_t alignment, void* address,
                                     unsigned long long flags) {
  if (!pointer || !isWhole(bytes) || (alignment & (alignment - 1)) != 0 || flags != 0)
    return kInvalidValue;
  const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* granted = MAP_FAILED;
  if (address && !isElsewhere())
    granted = mmap(address, bytes, PROT_NONE, how | MAP_FIXED_NOREPLACE, -1, 0);
  if (granted == MAP_FAILED)
    granted = mmap(nullptr, bytes, PROT_NONE, how, -1, 0);
  if (granted == MAP_FAILED)
    return kOutOfMemory;
  const std::lock_guard lock(state().mutex);
  state().reserved[reinterpret_cast<uintptr_t>(granted)] = bytes;
  *pointer = granted;
  return kSuccess;
}

MNEME_STAND_IN(hipMemAddressFree)(void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(state().mutex);
  const auto found = state().reserved.find(address);
  if (found == state().reserved.end() || found->second != bytes || overlapsMapping(address, bytes))
    return kInvalidValue;
  munmap(pointer, bytes);
  state().reserved.erase(found);
  return kSuccess;
}

MNEME_STAND_IN(hipMemCreate)(void** handle, size_t bytes, const void* properties,
                             unsigned long long flags) {
  if (!handle || !properties || !isWhole(bytes) || flags != 0)
    return kInvalidValue;
  size_t free = 0, total = 0;
  const auto ask = next<int (*)(size_t*, size_t*)>("hipMemGetInfo");
  if (ask && ask(&free, &total) == kSuccess && bytes > free)
    return kOutOfMemory;
  auto memory = std::make_unique<Memory>(Memory{bytes});
  const std::lock_guard lock(state().mutex);
  *handle = memory.get();
  state().memories[memory.get()] = std::move(memory);
  return kSuccess;
}

MNEME_STAND_IN(hipMemRelease)(void* handle) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().memories.find(static_cast<Memory*>(handle));
  if (found == state().memories.end() || found->second->isReleased)
    return kInvalidValue;
  found->second->isReleased = true;
  dropIfUnused(found->first);
  return kSuccess;
}

MNEME_STAND_IN(hipMemMap)(void* pointer, size_t bytes, size_t offset, void* handle,
                          unsigned long long flags) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(state().mutex);
  const auto found = state().memories.find(static_cast<Memory*>(handle));
  if (found == state().memories.end() || offset != 0 || flags != 0 ||
      bytes != found->second->bytes || overlapsMapping(address, bytes) ||
      holder(state().reserved, address, bytes, [](size_t size) { return size; }) ==
          state().reserved.end())
    return kInvalidValue;
  if (found->second->isMapped) // once, here
    return kNotSupported;
  found->second->isMapped = true;
  state().mapped[address] = {bytes, found->first, false};
  return kSuccess;
}

/// The device comes to the memory, and mneme's runtime to know it, when it is made accessible.
MNEME_STAND_IN(hipMemSetAccess)(void* pointer, size_t bytes, const AccessDesc* access,
                                size_t count) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (!access || count != 1 || access->location.type != 1 || numberOf(access->location.id) != 0)
    return kInvalidValue;
  const std::lock_guard lock(state().mutex);
  const auto first = state().mapped.find(address);
  size_t covered = 0;
  auto end = first;
  for (; end != state().mapped.end() && covered < bytes && end->first == address + covered; ++end)
    covered += end->second.bytes;
  if (covered != bytes || bytes == 0 || !isPrefix(address, bytes))
    return kInvalidValue;
  const auto adopt = next<int (*)(const void*, size_t, int)>("mneme_hiprt_adopt");
  for (auto mapping = first; mapping != end; ++mapping) {
    auto& [memoryBytes, memory, isAdopted] = mapping->second;
    const int protection = access->flags == kReadWrite ? PROT_READ | PROT_WRITE
                           : access->flags == 1        ? PROT_READ
                                                       : PROT_NONE;
    if (mprotect(asPointer(mapping->first), memoryBytes, protection) != 0)
      return kOutOfMemory;
    if (!isAdopted && adopt &&
        adopt(asPointer(mapping->first), memoryBytes, kMappedPart) != kSuccess)
      return kOutOfMemory;
    isAdopted = true;
  }
  return kSuccess;
}

MNEME_STAND_IN(hipMemGetAccess)(unsigned long long* flags, const Location* location,
                                void* pointer) {
  const std::lock_guard lock(state().mutex);
  const auto found = holder(state().mapped, reinterpret_cast<uintptr_t>(pointer), 1,
                            [](const Mapping& mapping) { return mapping.bytes; });
  if (!flags || !location || found == state().mapped.end())
    return kInvalidValue;
  *flags = found->second.isAdopted ? kReadWrite : 0;
  return kSuccess;
}

MNEME_STAND_IN(hipMemUnmap)(void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto disown = next<void (*)(const void*)>("mneme_hiprt_disown");
  const std::lock_guard lock(state().mutex);
  const auto found = state().mapped.find(address);
  if (found == state().mapped.end())
    std::abort(); // as ROCm, which reads a null pointer
  if (found->second.bytes != bytes)
    return kInvalidValue;
  if (found->second.isAdopted && disown)
    disown(pointer);
  if (!makeInaccessible(address, bytes))
    return kOutOfMemory;
  Memory* const memory = found->second.memory;
  state().mapped.erase(found);
  memory->isMapped = false;
  dropIfUnused(memory);
  return kSuccess;
}
