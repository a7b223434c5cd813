#include "runtime/recorder/graph_blocks.h"

#include <algorithm>
#include <utility>

#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/patience.h"

namespace mneme::record {
namespace {

/// Nobody shares these blocks between graphs, as vendors do: the program must have enough left.
constexpr size_t kPartOfFree = 4;
/// A block is taken again for memory that fills so much of it.
constexpr size_t kLeastPart = 2;
constexpr int kInvalidValue = 1; // of all vendors

const void* pointerTo(const GraphBlock& block) {
  return reinterpret_cast<const void*>(block.allocation.address);
}

} // namespace

void MemoryNode::keepAccess() {
  if (!params.access)
    return;
  access = std::make_shared<const std::vector<MemoryAccess>>(params.access,
                                                             params.access + params.accessCount);
  params.access = access->data();
}

GraphBlocks::Block GraphBlocks::take(const void* graph, size_t bytes, unsigned device,
                                     size_t freeBytes, const Ancestors& ancestors) {
  collect();
  const std::lock_guard lock(mutex_);
  // The CPU device's runtime gives every node addresses of its own.
  const auto known = backend_.isOwnRuntime() ? graphs_.end() : graphs_.find(graph);
  if (known != graphs_.end()) {
    const auto fits = [&](const auto& one) {
      const Allocation& allocation = one.second->allocation;
      return allocation.device == device && allocation.sizeBytes >= bytes &&
             allocation.sizeBytes / kLeastPart <= bytes;
    };
    auto& freed = known->second.freed;
    if (std::ranges::any_of(freed, fits)) {
      const auto before = ancestors();
      const auto found = std::ranges::find_if(
          freed, [&](const auto& one) { return fits(one) && before.contains(one.first); });
      if (found != freed.end()) {
        Block block = found->second;
        freed.erase(found);
        return block;
      }
    }
  }
  size_t& taken = bytes_[device];
  if (bytes + taken < bytes || bytes + taken > (freeBytes + taken) / kPartOfFree)
    return nullptr;
  const void* pointer = memory_.allocate(bytes, artifact::RegionKind::Allocation, device);
  if (!pointer)
    return nullptr;
  if (backend_.adopt(pointer, bytes, artifact::RegionKind::Allocation) != 0) {
    memory_.release(pointer);
    return nullptr;
  }
  auto block = std::make_shared<GraphBlock>();
  block->allocation = *memory_.detach(pointer);
  blocks_[block->allocation.address] = block;
  taken += bytes;
  isUsed_ = true;
  return block;
}

GraphBlocks::Block GraphBlocks::find(const void* pointer) const {
  if (!isUsed_)
    return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uint64_t>(pointer));
  return found == blocks_.end() ? nullptr : found->second;
}

bool GraphBlocks::isFreedIn(const void* graph, const Block& block) const {
  const std::lock_guard lock(mutex_);
  const auto known = graphs_.find(graph);
  if (known == graphs_.end())
    return false;
  const auto& steps = known->second.steps;
  const auto last = std::find_if(steps.rbegin(), steps.rend(),
                                 [&](const Step& step) { return step.block == block; });
  return last != steps.rend() && last->isFree;
}

void GraphBlocks::add(const void* graph, void* node, MemoryNode what, const void* stream) {
  const std::lock_guard lock(mutex_);
  Graph& known = graphs_[graph];
  // What another graph allocates may live on when that one is launched again.
  const bool isOwn = std::ranges::any_of(
      known.steps, [&](const Step& step) { return !step.isFree && step.block == what.block; });
  if (what.isFree && isOwn)
    known.freed.emplace_back(node, what.block);
  known.steps.push_back({node, what.isFree, what.block, stream != nullptr});
  if (stream)
    known.streams.insert(stream);
  what.keepAccess();
  nodes_[node] = std::move(what);
}

std::optional<MemoryNode> GraphBlocks::nodeOf(const void* node) const {
  if (!isUsed_)
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::nullopt : std::optional(found->second);
}

bool GraphBlocks::hasNodes(const void* graph) const {
  if (!isUsed_)
    return false;
  const std::lock_guard lock(mutex_);
  return graphs_.contains(graph);
}

bool GraphBlocks::isInstantiated(const void* graph) const {
  if (!isUsed_)
    return false;
  const std::lock_guard lock(mutex_);
  return graphs_.contains(graph) &&
         std::ranges::any_of(execs_, [&](const auto& item) { return item.second.graph == graph; });
}

/// Whether nodes of an executable graph are known.
bool GraphBlocks::isOf(const void* exec) const {
  if (!isUsed_)
    return false;
  const std::lock_guard lock(mutex_);
  return execs_.contains(exec);
}

void GraphBlocks::drop(const void* graph) {
  const auto known = graphs_.find(graph);
  if (known == graphs_.end())
    return;
  for (const Step& step : known->second.steps)
    nodes_.erase(step.node);
  graphs_.erase(known);
  for (auto& [exec, one] : execs_)
    if (one.graph == graph)
      one.graph = nullptr; // another may get the handle
}

/// Forgets what a failed capture has added; the graph may be the program's, with nodes before it.
void GraphBlocks::dropCaptured(const void* graph) {
  Graph& known = graphs_.at(graph);
  known.streams.clear();
  for (const Step& step : known.steps)
    if (step.isCaptured) {
      nodes_.erase(step.node);
      std::erase_if(known.freed, [&](const auto& one) { return one.first == step.node; });
    }
  std::erase_if(known.steps, [](const Step& step) { return step.isCaptured; });
  if (known.steps.empty())
    drop(graph);
}

/// Blocks that neither a graph has nor a launch has left.
void GraphBlocks::dropUnused() {
  std::erase_if(blocks_, [&](auto& item) {
    const Block& block = item.second;
    if (block.use_count() > 1 || block->isLive)
      return false;
    list(*block, false);
    bytes_[block->allocation.device] -= block->allocation.sizeBytes;
    unused_.push_back(block->allocation);
    return true;
  });
}

void GraphBlocks::graphMoves(const void* child, const void* graph) {
  const std::lock_guard lock(mutex_);
  auto moved = graphs_.extract(child);
  if (moved.empty())
    return;
  Graph& known = graphs_[graph];
  const std::vector<Step>& steps = moved.mapped().steps;
  known.steps.insert(known.steps.end(), steps.begin(), steps.end());
}

void GraphBlocks::graphEnds(const void* graph) {
  if (!isUsed_)
    return;
  {
    const std::lock_guard lock(mutex_);
    drop(graph);
    dropUnused();
  }
  collect();
}

void GraphBlocks::captureEnds(const void* stream, const void* graph, bool isLast) {
  if (!isUsed_)
    return;
  const std::lock_guard lock(mutex_);
  if (const auto made = graphs_.find(graph); made != graphs_.end()) {
    made->second.streams.clear();
    for (Step& step : made->second.steps)
      step.isCaptured = false;
  }
  if (graph)
    return;
  std::vector<const void*> gone;
  for (const auto& [one, known] : graphs_)
    if (known.streams.contains(stream) || (isLast && !known.streams.empty()))
      gone.push_back(one);
  for (const void* one : gone)
    dropCaptured(one);
  dropUnused();
}

void GraphBlocks::execMade(const void* exec, const void* graph, bool freesItself) {
  if (!isUsed_)
    return;
  const std::lock_guard lock(mutex_);
  execs_.erase(exec);
  const auto known = graphs_.find(graph);
  if (known != graphs_.end())
    execs_[exec] = {graph, known->second.steps, freesItself};
}

void GraphBlocks::execUpdated(const void* exec, const void* graph) {
  if (!isUsed_)
    return;
  const std::lock_guard lock(mutex_);
  if (const auto known = graphs_.find(graph); known != graphs_.end())
    execs_[exec].steps = known->second.steps;
  dropUnused();
}

void GraphBlocks::execEnds(const void* exec) {
  if (!isUsed_)
    return;
  {
    const std::lock_guard lock(mutex_);
    if (execs_.erase(exec) == 0)
      return;
    dropUnused();
  }
  collect();
}

void GraphBlocks::forgetDevice(unsigned device) {
  const std::lock_guard lock(mutex_);
  const auto isThere = [&](const Block& block) { return block->allocation.device == device; };
  std::erase_if(nodes_, [&](const auto& item) { return isThere(item.second.block); });
  for (auto& [graph, known] : graphs_) {
    std::erase_if(known.steps, [&](const Step& step) { return isThere(step.block); });
    std::erase_if(known.freed, [&](const auto& one) { return isThere(one.second); });
  }
  std::erase_if(execs_, [&](const auto& item) {
    return std::ranges::any_of(item.second.steps,
                               [&](const Step& step) { return isThere(step.block); });
  });
  std::erase_if(blocks_, [&](const auto& item) { return isThere(item.second); });
  std::erase_if(unused_, [&](const Allocation& one) { return one.device == device; });
  bytes_.erase(device);
}

void GraphBlocks::list(GraphBlock& block, bool isListed) {
  if (block.isListed == isListed)
    return;
  if (isListed)
    memory_.attachAgain(block.allocation, block.allocation.sizeBytes);
  else
    memory_.detach(pointerTo(block));
  block.isListed = isListed;
}

int GraphBlocks::launch(const void* exec, const std::function<int()>& next) {
  Lives lives;
  if (!begin(exec, lives))
    return kInvalidValue;
  const int status = next();
  const std::lock_guard lock(mutex_);
  for (const auto& [block, life] : lives)
    block->isLive = status == 0 ? life.after : life.before;
  for (const auto& [block, life] : lives)
    list(*block, block->isLive);
  return status;
}

/// False if a node would allocate memory that still lives, or free memory that does not.
bool GraphBlocks::begin(const void* exec, Lives& lives) {
  const std::lock_guard lock(mutex_);
  const auto known = execs_.find(exec);
  if (known == execs_.end())
    return true;
  for (const Step& step : known->second.steps) {
    const bool isLive = step.block->isLive;
    Life& life = lives
                     .try_emplace(step.block, Life{.before = isLive,
                                                   .after = isLive && !known->second.freesItself})
                     .first->second;
    if (step.isFree != life.after)
      return false;
    life.after = !step.isFree;
  }
  for (const auto& [block, life] : lives)
    list(*block, true);
  return true;
}

bool GraphBlocks::release(const void* pointer) {
  if (!isUsed_)
    return false;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uint64_t>(pointer));
  if (found == blocks_.end() || !found->second->isLive)
    return false;
  found->second->isLive = false;
  list(*found->second, false);
  dropUnused();
  return true;
}

void GraphBlocks::collect() {
  if (!isUsed_ || isCapturingAny())
    return;
  std::vector<Allocation> unused;
  {
    const std::lock_guard lock(mutex_);
    unused.swap(unused_);
  }
  std::map<unsigned, bool> isIdle;
  for (const Allocation& one : unused) {
    const auto [asked, isFirst] = isIdle.emplace(one.device, false);
    if (isFirst)
      asked->second = backend_.synchronizeWithin(one.device, Patience(kAskPatience)).has_value();
    if (asked->second) {
      backend_.disown(reinterpret_cast<const void*>(one.address));
      memory_.giveBack(one);
    } else {
      const std::lock_guard lock(mutex_);
      unused_.push_back(one);
    }
  }
}

} // namespace mneme::record
