// Room recorder: memory that nodes of graphs allocate, where the recorder has it and not the
// vendor. No vendor copies a graph whose nodes allocate memory or free some. With the recorder's
// memory these nodes are empty ones, so that the graph is launched in parts like any other.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/recorder/device_memory.h"
#include "runtime/recorder/graph_functions.h"
#include "runtime/recorder/record_backend.h"

namespace mneme::record {

/// Memory that nodes of one graph allocate, one after the other.
struct GraphBlock {
  Allocation allocation;
  std::atomic<bool> isLive{false}; ///< a launch has allocated it, and nothing has freed it
  bool isListed = false;           ///< in Memory, among what launches can access
};

/// What an empty node stands for.
struct MemoryNode {
  bool isFree = false;
  std::shared_ptr<GraphBlock> block;
  AllocParams params{}; ///< if it allocates
  /// What `params` refer to.
  std::shared_ptr<const std::vector<MemoryAccess>> access{};

  /// Makes it refer to a copy, which lives as long as the node: the program's is short-lived.
  void keepAccess();
};

/// Thread-safe. Handles are the vendor's; nodes of a graph are forgotten with it.
class GraphBlocks {
public:
  using Block = std::shared_ptr<GraphBlock>;
  using Ancestors = std::function<std::unordered_set<const void*>()>;

  GraphBlocks(Backend& backend, Memory& memory) : backend_(backend), memory_(memory) {}

  /// Returns memory for a node that is to be added to the graph: a block that was freed before one
  /// of its `ancestors`, or a new one. Null if it would be too much of `freeBytes`.
  Block take(const void* graph, size_t bytes, unsigned device, size_t freeBytes,
             const Ancestors& ancestors);
  /// Returns the memory at `pointer` that a node of the graph may free, as far as is known.
  Block find(const void* pointer) const;
  bool isFreedIn(const void* graph, const Block& block) const;
  /// `stream` is the one that is captured into the graph, if any.
  void add(const void* graph, void* node, MemoryNode what, const void* stream = nullptr);
  std::optional<MemoryNode> nodeOf(const void* node) const;
  bool hasNodes(const void* graph) const;
  /// Whether the graph has nodes and an executable graph.
  bool isInstantiated(const void* graph) const;
  bool isOf(const void* exec) const;

  /// `child` becomes a part of the other graph, with what it has.
  void graphMoves(const void* child, const void* graph);
  void graphEnds(const void* graph);
  /// A capture of the stream ends: with this graph, or null if it failed. `isLast` says that no
  /// other stream is being captured.
  void captureEnds(const void* stream, const void* graph, bool isLast);
  void execMade(const void* exec, const void* graph, bool freesItself);
  /// From now on it runs what another graph has.
  void execUpdated(const void* exec, const void* graph);
  void execEnds(const void* exec);
  /// Forgets everything on a device that was reset.
  void forgetDevice(unsigned device);

  /// Launches an executable graph. What its nodes allocate is listed meanwhile, and afterwards
  /// unless they free it. Returns an error, as vendors do, if some of it still lives, or if memory
  /// does not live that they free. May throw before `next` is called, and afterwards.
  int launch(const void* exec, const std::function<int()>& next);
  /// Ends the life of memory that a launch has left; false if there is none at `pointer`.
  bool release(const void* pointer);
  /// Gives back memory that no graph has any more, once the device is idle.
  void collect();

private:
  struct Step {
    const void* node = nullptr;
    bool isFree = false;
    Block block;
    bool isCaptured = false; ///< by a capture that has not ended
  };
  struct Graph {
    std::vector<Step> steps;
    /// Its own memory, by the node that frees it; not yet taken again.
    std::vector<std::pair<const void*, Block>> freed;
    std::set<const void*> streams; ///< that are captured into it
  };
  struct Exec {
    const void* graph = nullptr;
    std::vector<Step> steps;
    bool freesItself = false;
  };
  struct Life {
    bool before = false, after = false; ///< a launch
  };
  using Lives = std::map<Block, Life>;
  bool begin(const void* exec, Lives& lives);
  void drop(const void* graph);
  void dropCaptured(const void* graph);
  void dropUnused();
  void list(GraphBlock& block, bool isListed);

  Backend& backend_;
  Memory& memory_;
  mutable std::mutex mutex_;
  std::atomic<bool> isUsed_{false};
  std::map<uint64_t, Block> blocks_; ///< by address
  std::map<unsigned, size_t> bytes_; ///< of them, by device
  std::vector<Allocation> unused_;
  std::unordered_map<const void*, MemoryNode> nodes_;
  std::unordered_map<const void*, Graph> graphs_;
  std::unordered_map<const void*, Exec> execs_;
};

} // namespace mneme::record
