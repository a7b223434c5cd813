#include "runtime/emulator/executor/fiber.h"

#include <algorithm>
#include <new>

#include <sys/mman.h>

#ifdef MNEME_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace mneme::device::cpu {

namespace {

constexpr size_t pageBytes = 4096;
// A guard page splits a mapping in two, and Linux allows 65530 mappings per process: beyond this
// many fibers of one worker stacks are laid out without guards.
constexpr size_t maxGuardedFibers = 4096;

size_t roundUp(size_t value, size_t unit) noexcept { return (value + unit - 1) / unit * unit; }

} // namespace

#ifdef MNEME_FIBER_ASAN
namespace {
thread_local volatile int switching = 0;
}
[[gnu::noinline]] void setSwitchingFibers(bool isSwitching) noexcept { switching = isSwitching; }
[[gnu::noinline]] bool isSwitchingFibers() noexcept { return switching != 0; }
#endif

FiberPool::~FiberPool() { releaseAll(); }

void FiberPool::releaseAll() noexcept {
  for (const Slab& slab : slabs_)
    munmap(slab.base, slab.bytes);
  slabs_.clear();
  fibers_.clear();
  free_ = nullptr;
}

void FiberPool::setStackBytes(size_t stackBytes) {
  stackBytes = roundUp(stackBytes, pageBytes);
  if (stackBytes <= stackBytes_)
    return;
  releaseAll();
  stackBytes_ = stackBytes;
}

void FiberPool::grow(size_t count) {
  while (fibers_.size() < count)
    addSlab(std::clamp<size_t>(count - fibers_.size(), 32, 1024));
}

void FiberPool::addSlab(size_t count) {
  Slab slab{};
  slab.isGuarded = fibers_.size() + count <= maxGuardedFibers;
  // One page more than a power of two, so that the tops of the stacks do not share cache sets.
  slab.stride = stackBytes_ + pageBytes;
  slab.bytes = slab.stride * count;
  void* base = mmap(nullptr, slab.bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED)
    throw std::bad_alloc();
  madvise(base, slab.bytes, MADV_NOHUGEPAGE);
  slab.base = static_cast<char*>(base);
  slabs_.push_back(slab);
  std::vector<Fiber*> added;
  for (size_t i = 0; i < count; ++i) {
    char* low = slab.base + i * slab.stride;
    if (slab.isGuarded)
      mprotect(low, pageBytes, PROT_NONE);
    auto fiber = std::make_unique<Fiber>();
    fiber->owner = owner_;
    fiber->stackLow = low + pageBytes;
    // The tops of the stacks are staggered by cache lines: equal offsets would fight for one set.
    fiber->stackBytes = stackBytes_ - (i % 16) * 128;
    restart(*fiber);
    added.push_back(fiber.get());
    fibers_.push_back(std::move(fiber));
  }
  for (size_t i = count; i-- > 0;)
    put(added[i]);
}

void FiberPool::restart(Fiber& fiber) noexcept {
  fiber.context = boost::context::detail::make_fcontext(fiber.stackLow + fiber.stackBytes,
                                                        fiber.stackBytes, entry_);
#ifdef MNEME_FIBER_ASAN
  fiber.fakeStack = nullptr;
  __asan_unpoison_memory_region(fiber.stackLow, fiber.stackBytes);
#endif
}

void FiberPool::reset() noexcept {
  free_ = nullptr;
  for (size_t i = fibers_.size(); i-- > 0;) {
    restart(*fibers_[i]);
    put(fibers_[i].get());
  }
}

bool FiberPool::isGuard(uint64_t address) const noexcept {
  for (const Slab& slab : slabs_) {
    const auto base = reinterpret_cast<uint64_t>(slab.base);
    if (address >= base && address < base + slab.bytes)
      return slab.isGuarded && (address - base) % slab.stride < pageBytes;
  }
  return false;
}

} // namespace mneme::device::cpu
