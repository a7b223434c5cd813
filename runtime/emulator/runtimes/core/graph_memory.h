// Room emulator/runtimes: memory that a node of a graph allocates. Its address is fixed when the
// node is created. The memory counts as allocated from the run of that node until a freeing node
// runs or the application frees it.
#pragma once

#include <cstddef>
#include <memory>

namespace mneme::cpu_runtime {

class GraphMemory {
public:
  /// Returns null if there is no memory.
  static std::shared_ptr<GraphMemory> make(size_t bytes);
  /// Memory that is still allocated is left to the application to free.
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* address() const noexcept { return address_; }
  size_t bytes() const noexcept { return bytes_; }
  bool isLive() const noexcept;
  /// Returns false if it is already allocated.
  bool allocate() noexcept;

private:
  GraphMemory(void* address, size_t bytes) : address_(address), bytes_(bytes) {}
  void* address_;
  size_t bytes_;
};

/// Marks the memory of an existing node that starts at `pointer` as freed; returns false if there
/// is none. `isFreed` is set to whether the memory was allocated.
bool freeGraphMemory(void* pointer, bool& isFreed);
/// Whether it is the memory of a node, and not allocated now.
bool isDeadGraphMemory(void* pointer);
/// Counts the bytes of all nodes' memory (`reserved`) and of the allocated part (`used`).
void countGraphMemory(size_t& reserved, size_t& used);

} // namespace mneme::cpu_runtime
