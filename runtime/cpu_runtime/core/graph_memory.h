// Room cpu_runtime: memory that a node of a graph allocates. Its address is known when the
// node is made; the memory counts as allocated from the node's run to that of a node that frees it,
// or to a free by the application.
#pragma once

#include <cstddef>
#include <memory>

namespace mneme::cpu_runtime {

class GraphMemory {
public:
  /// Null when there is no memory.
  static std::shared_ptr<GraphMemory> make(size_t bytes);
  /// Live memory stays the application's, to be freed as any other.
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* address() const noexcept { return address_; }
  size_t bytes() const noexcept { return bytes_; }
  bool isLive() const noexcept;
  /// False if it is allocated already.
  bool allocate() noexcept;

private:
  GraphMemory(void* address, size_t bytes) : address_(address), bytes_(bytes) {}
  void* address_;
  size_t bytes_;
};

/// Whether memory of a node that still exists starts here; `isFreed` says whether it was live, and
/// it no longer is.
bool freeGraphMemory(void* pointer, bool& isFreed);
/// Bytes of all nodes' memory, and of that which is live.
void countGraphMemory(size_t& reserved, size_t& used);

} // namespace mneme::cpu_runtime
