#include "runtime/emulator/runtimes/core/graph_memory.h"

#include <map>
#include <mutex>
#include <utility>

#include "runtime/emulator/runtimes/core/heap.h"

namespace mneme::cpu_runtime {
namespace {

struct Known {
  size_t bytes;
  bool isLive;
};

std::mutex& lock() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::map<void*, Known>& known() {
  static auto* table = new std::map<void*, Known>;
  return *table;
}

} // namespace

std::shared_ptr<GraphMemory> GraphMemory::make(size_t bytes) {
  void* address = Heap::instance().allocate(bytes, MemoryKind::Device);
  if (!address)
    return nullptr;
  const std::lock_guard guard(lock());
  known()[address] = {bytes, false};
  return std::shared_ptr<GraphMemory>(new GraphMemory(address, bytes));
}

GraphMemory::~GraphMemory() {
  const std::lock_guard guard(lock());
  const auto found = known().find(address_);
  const bool isLive = found->second.isLive;
  known().erase(found);
  if (!isLive)
    Heap::instance().release(address_, [](const Block&) { return true; });
}

bool GraphMemory::isLive() const noexcept {
  const std::lock_guard guard(lock());
  return known().at(address_).isLive;
}

bool GraphMemory::allocate() noexcept {
  const std::lock_guard guard(lock());
  return !std::exchange(known().at(address_).isLive, true);
}

bool freeGraphMemory(void* pointer, bool& isFreed) {
  const std::lock_guard guard(lock());
  const auto found = known().find(pointer);
  if (found == known().end())
    return false;
  isFreed = std::exchange(found->second.isLive, false);
  return true;
}

bool isDeadGraphMemory(void* pointer) {
  const std::lock_guard guard(lock());
  const auto found = known().find(pointer);
  return found != known().end() && !found->second.isLive;
}

void countGraphMemory(size_t& reserved, size_t& used) {
  const std::lock_guard guard(lock());
  reserved = used = 0;
  for (const auto& [address, memory] : known()) {
    reserved += memory.bytes;
    used += memory.isLive ? memory.bytes : 0;
  }
}

} // namespace mneme::cpu_runtime
