#include "runtime/emulator/runtimes/core/heap.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/base/address_space.h"
#include "runtime/core/base/environment.h"
#include "runtime/emulator/executor/runtime_variables.h"

namespace mneme::cpu_runtime {
namespace {

constexpr uintptr_t kHeapAddress = 0x7c0000000000;
constexpr size_t kWindowBytes = size_t{1} << 40;
constexpr size_t kSmallestWindow = size_t{64} << 20;
constexpr size_t kPage = 4096;
constexpr size_t kSmallAlignment = 256; // what vendors promise for every allocation
constexpr size_t kSmallLimit = 32 * 1024;
constexpr size_t kSmallCommit = 2 * 1024 * 1024;
constexpr size_t kHugePage = 2 * 1024 * 1024;

size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

size_t smallClass(size_t bytes) { return std::max(kSmallAlignment, std::bit_ceil(bytes)); }

size_t largeBytes(size_t bytes) { return roundUp(bytes, bytes >= kHugePage ? kHugePage : kPage); }

bool makeAccessible(uintptr_t base, size_t bytes) {
  // In place of what guards it: mprotect() would leave that.
  return mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

size_t physicalBytes() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

void* reserveAddresses(uintptr_t address, size_t bytes) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* base =
      mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
  if (base == MAP_FAILED)
    base = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
  return base == MAP_FAILED ? nullptr : base;
}

Heap& Heap::instance() {
  static Heap* heap = new Heap;
  return *heap;
}

Heap::Heap() : totalBytes_(physicalBytes()) {}

void Heap::reserveWindow() {
  const char* text = environmentValue(kHeapAddressVariable);
  const uintptr_t address = text ? std::strtoull(text, nullptr, 0) / kHugePage * kHugePage : 0;
  void* base = nullptr;
  size_t bytes = shareOfAddresses(kWindowBytes, 2) / kHugePage * kHugePage;
  while (!(base = reserveAddresses(address ? address : kHeapAddress, bytes))) {
    bytes = bytes / 2 / kHugePage * kHugePage;
    if (bytes < kSmallestWindow)
      return;
  }
  windowBytes_ = bytes;
  window_ = reinterpret_cast<uintptr_t>(base);
  smallNext_ = smallCommitted_ = window_;
  smallEnd_ = window_ + windowBytes_ / 16 / kSmallCommit * kSmallCommit;
  const uintptr_t firstLarge = roundUp(smallEnd_, kHugePage);
  freeLarge_.emplace(firstLarge, window_ + windowBytes_ - firstLarge);
  const uintptr_t inFront = window_ - kGuardBytes;
  if (void* granted = reserveAddresses(inFront, kGuardBytes);
      granted && reinterpret_cast<uintptr_t>(granted) != inFront)
    munmap(granted, kGuardBytes);
  else if (granted)
    guard_.put(inFront, kGuardBytes);
  small_ = {window_, window_, smallEnd_};
  large_ = {firstLarge, firstLarge, window_ + windowBytes_};
  if (firstLarge - window_ > 2 * kGuardBytes) {
    guard_.put(firstLarge - kGuardBytes, kGuardBytes);
    small_.end = firstLarge - kGuardBytes;
  }
}

/// Guards what was never allocated only: what is freed goes on to fault.
void Heap::advance(Frontier& frontier, uintptr_t used) {
  frontier.used = std::max(frontier.used, used);
  frontier.guarded = std::max(frontier.guarded, frontier.used);
  const uintptr_t wanted = std::min(frontier.end, frontier.used + kGuardBytes);
  if (wanted < frontier.guarded + kGuardBytes / 4 && wanted != frontier.end)
    return; // there is enough: not with each allocation
  if (wanted > frontier.guarded)
    guard_.put(frontier.guarded, wanted - frontier.guarded);
  frontier.guarded = std::max(frontier.guarded, wanted);
}

void* Heap::takeSmall(size_t bytes) {
  const size_t size = smallClass(bytes);
  std::vector<uintptr_t>& reusable = freeSmall_[size];
  if (!reusable.empty()) {
    const uintptr_t base = reusable.back();
    reusable.pop_back();
    return reinterpret_cast<void*>(base);
  }
  if (smallNext_ + size > smallEnd_)
    return nullptr;
  if (smallNext_ + size > smallCommitted_) {
    if (!makeAccessible(smallCommitted_, kSmallCommit))
      return nullptr;
    smallCommitted_ += kSmallCommit;
    advance(small_, smallCommitted_);
  }
  const uintptr_t base = smallNext_;
  smallNext_ += size;
  return reinterpret_cast<void*>(base);
}

void* Heap::takeLarge(size_t bytes) {
  const size_t size = largeBytes(bytes);
  const size_t alignment = size >= kHugePage ? kHugePage : kPage;
  for (auto range = freeLarge_.begin(); range != freeLarge_.end(); ++range) {
    const auto [start, length] = *range;
    const uintptr_t base = roundUp(start, alignment);
    if (base + size > start + length)
      continue;
    if (!makeAccessible(base, size))
      return nullptr;
    freeLarge_.erase(range);
    if (base > start)
      freeLarge_.emplace(start, base - start);
    if (base + size < start + length)
      freeLarge_.emplace(base + size, start + length - base - size);
    if (size >= kHugePage)
      madvise(reinterpret_cast<void*>(base), size, MADV_HUGEPAGE);
    advance(large_, base + size);
    return reinterpret_cast<void*>(base);
  }
  return nullptr;
}

void* Heap::allocate(size_t bytes, MemoryKind kind, unsigned flags, void* pool) {
  const std::unique_lock lock(mutex_);
  if (bytes > totalBytes_ || usedBytes_ + bytes > totalBytes_)
    return nullptr;
  if (window_ == 0)
    reserveWindow();
  void* pointer = bytes <= kSmallLimit ? takeSmall(bytes) : takeLarge(bytes);
  if (!pointer)
    return nullptr;
  const auto base = reinterpret_cast<uintptr_t>(pointer);
  blocks_.emplace(base, Block{base, bytes, kind, true, true, flags, pool});
  usedBytes_ += bytes;
  return pointer;
}

void Heap::insertFree(uintptr_t base, size_t bytes) {
  auto next = freeLarge_.lower_bound(base);
  if (next != freeLarge_.end() && base + bytes == next->first) {
    bytes += next->second;
    next = freeLarge_.erase(next);
  }
  if (next != freeLarge_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == base) {
      previous->second += bytes;
      return;
    }
  }
  freeLarge_.emplace(base, bytes);
}

void Heap::giveBack(const Block& block) {
  usedBytes_ -= block.bytes;
  if (block.bytes <= kSmallLimit) {
    freeSmall_[smallClass(block.bytes)].push_back(block.base);
    return;
  }
  const size_t size = largeBytes(block.bytes);
  // Where this fails the pages stay, which costs memory only.
  (void)mmap(reinterpret_cast<void*>(block.base), size, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  insertFree(block.base, size);
}

bool Heap::release(void* pointer, bool (*accepts)(const Block&)) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == blocks_.end() || !found->second.isOwned || !accepts(found->second))
    return false;
  giveBack(found->second);
  blocks_.erase(found);
  return true;
}

void Heap::releaseAll() {
  const std::unique_lock lock(mutex_);
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    if (!block->second.isOwned) {
      ++block;
      continue;
    }
    giveBack(block->second);
    block = blocks_.erase(block);
  }
}

std::optional<Block> Heap::find(const void* pointer) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::shared_lock lock(mutex_);
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin())
    return std::nullopt;
  const Block& block = std::prev(next)->second;
  if (address - block.base >= std::max<size_t>(block.bytes, 1))
    return std::nullopt;
  return block;
}

bool Heap::isAccessible(const void* pointer, size_t bytes) const {
  if (bytes == 0)
    return true;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (auto block = find(pointer)) {
    if (block->kind == MemoryKind::Host)
      return true;
    while (address + bytes > block->base + block->bytes) {
      const auto next = find(reinterpret_cast<void*>(block->base + block->bytes));
      if (!block->isPart || !next || !next->isPart)
        return false;
      block = next;
    }
    return true;
  }
  return address < window_ - std::min(kGuardBytes, uint64_t{window_}) ||
         address >= window_ + windowBytes_;
}

bool Heap::note(const Block& block) {
  const auto next = blocks_.lower_bound(block.base);
  if (next != blocks_.end() && next->first < block.base + block.bytes)
    return false;
  if (next != blocks_.begin()) {
    const Block& previous = std::prev(next)->second;
    if (previous.base + previous.bytes > block.base)
      return false;
  }
  blocks_.emplace(block.base, block);
  return true;
}

bool Heap::adopt(const void* base, size_t bytes, MemoryKind kind, unsigned flags) {
  const auto address = reinterpret_cast<uintptr_t>(base);
  const std::unique_lock lock(mutex_);
  return note({address, bytes, kind, false, false, flags, nullptr});
}

bool Heap::adoptServed(const void* base, size_t bytes, MemoryKind kind, bool isPart) {
  const auto address = reinterpret_cast<uintptr_t>(base);
  const std::unique_lock lock(mutex_);
  if (bytes > totalBytes_ || usedBytes_ + bytes > totalBytes_ ||
      !note({address, bytes, kind, false, true, 0, nullptr, isPart}))
    return false;
  usedBytes_ += bytes;
  return true;
}

bool Heap::disown(const void* base) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(base));
  if (found == blocks_.end() || found->second.isOwned)
    return false;
  if (found->second.isCounted)
    usedBytes_ -= found->second.bytes;
  blocks_.erase(found);
  return true;
}

size_t Heap::usedBytes() const {
  const std::shared_lock lock(mutex_);
  return usedBytes_;
}

size_t Heap::usedBytes(const void* pool) const {
  const std::shared_lock lock(mutex_);
  size_t bytes = 0;
  for (const auto& [base, block] : blocks_)
    bytes += block.pool == pool ? block.bytes : 0;
  return bytes;
}

} // namespace mneme::cpu_runtime
