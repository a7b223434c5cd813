#include "runtime/recorder/served_graph_memory.h"

#include <algorithm>
#include <string_view>

#include "runtime/core/base/last_error.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/captures_relaxed.h"
#include "runtime/recorder/graph_blocks.h"
#include "runtime/recorder/graph_bodies.h"
#include "runtime/recorder/loaded_symbols.h"
#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/own_references.h"
#include "runtime/recorder/refusals.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

constexpr int kPinned = 1, kOnDevice = 1;             // of memory pools
constexpr int kInvalidValue = 1, kNotSupported = 801; // of all vendors
constexpr size_t kMostAncestors = 512;

bool asks(std::string_view name) {
  return name.find("GraphMemAttribute") != name.npos ||
         name.find("GraphDebugDotPrint") != name.npos;
}

int lookForQuestions(dl_phdr_info* info, size_t, void* found) {
  const bool isProgram = !info->dlpi_name || !*info->dlpi_name;
  *static_cast<bool*>(found) =
      isProgram && (importsAny(*info, asks) || refersToOwn(*info, asks).value_or(false));
  return isProgram;
}

/// Whether the program may print what the vendor knows of the memory of graphs.
bool isProgramCurious() noexcept {
  static const bool is = [] {
    bool isFound = false;
    dl_iterate_phdr(lookForQuestions, &isFound);
    return isFound;
  }();
  return is;
}

/// Runs `action`, which returns the status of a call that it serves; the vendor is called for
/// others.
template <typename Action>
int served(const CallGuard& guard, const Next& next, const Action& action) {
  Session* session = guard.session();
  if (session && session->isOwner() && session->graphBlocks())
    try {
      if (const std::optional<int> status = action(*session, *session->graphBlocks()))
        return *status;
    } catch (const std::exception& error) {
      session->note(sentence("memory of a graph could not be placed: ", error.what()));
    }
  return next();
}

bool mayHold(Session& session, const AllocParams& params) {
  Backend& backend = session.backend();
  const MemoryAccess* access = params.access;
  return session.isActive() && !session.leavesGraphsWhole() && !session.hasDeviceFailed() &&
         !session.leavesToVendor() && !isProgramCurious() && params.allocType == kPinned &&
         params.handleTypes == 0 && params.locationType == kOnDevice &&
         params.locationId == backend.currentDevice() && params.sizeBytes > 0 &&
         std::all_of(
             access, access + (access ? params.accessCount : 0),
             [&](const MemoryAccess& one) { return one.locationId == params.locationId; }) &&
         backend.canPlace(artifact::RegionKind::Allocation) && !backend.currentPlace().context &&
         backend.prepareContext();
}

/// The nodes, and nodes that come before them.
std::unordered_set<const void*> ancestors(const NewNode& place, const GraphFunctions& functions) {
  std::unordered_set<const void*> seen;
  std::vector<void*> open(place.after, place.after + place.count);
  while (!open.empty() && seen.size() < kMostAncestors) {
    void* const node = open.back();
    open.pop_back();
    size_t count = 0;
    if (!seen.insert(node).second || functions.getDependencies(node, nullptr, &count) != 0)
      continue;
    std::vector<void*> before(count);
    if (count > 0 && functions.getDependencies(node, before.data(), &count) == 0)
      open.insert(open.end(), before.begin(), before.end());
  }
  return seen;
}

GraphBlocks::Block take(GraphBlocks& blocks, const NewNode& place, const AllocParams& params,
                        const GraphFunctions& functions) {
  size_t freeBytes = 0, totalBytes = 0;
  if (functions.freeBytes(&freeBytes, &totalBytes) != 0)
    return nullptr;
  return blocks.take(place.graph, params.sizeBytes, static_cast<unsigned>(params.locationId),
                     freeBytes, [&] { return ancestors(place, functions); });
}

/// What a stream is captured into; its nodes are copied, as the vendor's list is short-lived.
struct Captured {
  void* graph = nullptr;
  std::vector<void*> after;
};

std::optional<Captured> readCapture(void* stream, const GraphFunctions& functions) {
  Captured captured;
  void* const* after = nullptr;
  size_t count = 0;
  if (!functions.canHoldMemory() ||
      functions.readCapture(stream, &captured.graph, &after, &count) != 0 || !captured.graph)
    return std::nullopt;
  captured.after.assign(after, after + (after ? count : 0));
  return captured;
}

/// Adds an empty node in which the capture goes on. If that fails, the node stays, with nothing to
/// do: no vendor removes nodes of a graph into which a stream is captured.
void* addCaptured(const Captured& captured, void* stream, const GraphFunctions& functions) {
  void* node = nullptr;
  const bool isAdded = functions.addEmpty(&node, captured.graph, captured.after.data(),
                                          captured.after.size()) == 0 &&
                       functions.captureBehind(stream, node) == 0;
  return isAdded ? node : nullptr;
}

} // namespace

int serveAllocNode(const NewNode& place, AllocParams* params, const GraphFunctions& functions,
                   const Next& next) {
  const CallGuard guard;
  return served(guard, next, [&](Session& session, GraphBlocks& blocks) -> std::optional<int> {
    const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
    if (!functions.canHoldMemory())
      return std::nullopt;
    const CapturesRelaxed relaxed(functions.exchangeCaptureMode);
    // Vendors refuse such nodes in bodies of conditional nodes.
    if (!place.node || !params || (place.count > 0 && !place.after) || isBody(place.graph) ||
        !mayHold(session, *params))
      return std::nullopt;
    const auto block = take(blocks, place, *params, functions);
    if (!block || functions.addEmpty(place.node, place.graph, place.after, place.count) != 0)
      return std::nullopt;
    params->pointer = reinterpret_cast<void*>(block->allocation.address);
    blocks.add(place.graph, *place.node, {.block = block, .params = *params});
    return 0;
  });
}

int serveFreeNode(const NewNode& place, void* pointer, const GraphFunctions& functions,
                  const Next& next) {
  const CallGuard guard;
  return served(guard, next, [&](Session&, GraphBlocks& blocks) -> std::optional<int> {
    const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
    const auto block = blocks.find(pointer);
    if (block && blocks.isFreedIn(place.graph, block))
      return refuse(kInvalidValue, functions);
    if (!block || !place.node ||
        functions.addEmpty(place.node, place.graph, place.after, place.count) != 0)
      return std::nullopt;
    blocks.add(place.graph, *place.node, {.isFree = true, .block = block});
    return 0;
  });
}

int serveCapturedAlloc(void** pointer, size_t bytes, void* stream, const GraphFunctions& functions,
                       const Next& next) {
  const CallGuard guard;
  return served(guard, next, [&](Session& session, GraphBlocks& blocks) -> std::optional<int> {
    const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
    const auto place = session.backend().placeOf(stream);
    if (!functions.canHoldMemory())
      return std::nullopt;
    const CapturesRelaxed relaxed(functions.exchangeCaptureMode);
    if (!pointer || (place && place->context))
      return std::nullopt;
    AllocParams params{};
    params.allocType = kPinned;
    params.locationType = kOnDevice;
    params.locationId = place ? static_cast<int>(place->device) : session.backend().currentDevice();
    params.sizeBytes = bytes;
    if (!mayHold(session, params))
      return std::nullopt;
    const auto captured = readCapture(stream, functions);
    if (!captured)
      return std::nullopt;
    const NewNode there{nullptr, captured->graph, captured->after.data(), captured->after.size()};
    const auto block = take(blocks, there, params, functions);
    void* const node = block ? addCaptured(*captured, stream, functions) : nullptr;
    if (!node)
      return std::nullopt;
    *pointer = params.pointer = reinterpret_cast<void*>(block->allocation.address);
    blocks.add(captured->graph, node, {.block = block, .params = params}, stream);
    return 0;
  });
}

int serveCapturedFree(void* pointer, void* stream, const GraphFunctions& functions,
                      const Next& next) {
  const CallGuard guard;
  return served(guard, next, [&](Session&, GraphBlocks& blocks) -> std::optional<int> {
    const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
    const auto block = blocks.find(pointer);
    const auto captured = block ? readCapture(stream, functions) : std::nullopt;
    if (!captured)
      return std::nullopt;
    if (blocks.isFreedIn(captured->graph, block))
      return refuse(kInvalidValue, functions);
    void* const node = addCaptured(*captured, stream, functions);
    if (node)
      blocks.add(captured->graph, node, {.isFree = true, .block = block}, stream);
    return node ? std::optional(0) : std::nullopt;
  });
}

std::optional<int> freeGraphMemory(void* pointer, bool waits) noexcept {
  Session* session = Session::existing();
  GraphBlocks* blocks = session && session->isOwner() ? session->graphBlocks() : nullptr;
  try {
    const auto block = blocks ? blocks->find(pointer) : nullptr;
    if (!block || !block->isLive)
      return std::nullopt;
    int status = 0;
    if (waits && !isCapturingAny())
      status = session->backend().synchronizeDevice(block->allocation.device);
    if (!blocks->release(pointer))
      return std::nullopt;
    blocks->collect();
    return status;
  } catch (const std::exception& error) {
    session->note(sentence("a free could not be followed: ", error.what()));
    return 0;
  }
}

int serveNodeType(void* node, int* type, const GraphFunctions& functions, const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = guard.session();
  if (status != 0 || !session || !type || !session->graphBlocks() ||
      *type != functions.firstType + static_cast<int>(NodeKind::Empty))
    return status;
  if (const auto known = session->graphBlocks()->nodeOf(node))
    *type =
        functions.firstType + static_cast<int>(known->isFree ? NodeKind::Free : NodeKind::Alloc);
  return status;
}

int serveAllocParams(void* node, AllocParams* params, const Next& next) {
  const CallGuard guard;
  return served(guard, next, [&](Session&, GraphBlocks& blocks) -> std::optional<int> {
    const auto known = blocks.nodeOf(node);
    if (!known || known->isFree || !params)
      return std::nullopt;
    *params = known->params;
    return 0;
  });
}

int serveFreeParams(void* node, void** pointer, const Next& next) {
  const CallGuard guard;
  return served(guard, next, [&](Session&, GraphBlocks& blocks) -> std::optional<int> {
    const auto known = blocks.nodeOf(node);
    if (!known || !known->isFree || !pointer)
      return std::nullopt;
    *pointer = reinterpret_cast<void*>(known->block->allocation.address);
    return 0;
  });
}

int watchGraphDestroy(void* graph, const Next& next) {
  const CallGuard guard;
  // Before the vendor gives the handle to another one.
  forgetBodies(graph);
  Session* session = guard.session();
  if (session && session->isOwner() && session->graphBlocks())
    try {
      session->graphBlocks()->graphEnds(graph);
    } catch (const std::exception& error) {
      session->note(sentence("memory of a graph stays taken: ", error.what()));
    }
  try {
    if (session && session->isOwner() && session->graphs().outlive(graph))
      return 0;
  } catch (const std::exception&) { // no memory: the vendor says what it thinks of its nodes
  }
  return next();
}

int captureEnded(void* stream, void* const* graph, int status) noexcept {
  captureEnded(status);
  Session* session = Session::existing();
  if (session && session->isOwner() && session->graphBlocks())
    try {
      session->graphBlocks()->captureEnds(stream, status == 0 && graph ? *graph : nullptr,
                                          !isCapturingAny());
    } catch (const std::exception&) { // the memory stays taken
    }
  return status;
}

int watchGraphMove(void* child, void* graph, const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = guard.session();
  if (status == 0)
    bodiesMove(child, graph);
  if (status == 0 && session && session->isOwner() && session->graphBlocks())
    try {
      session->graphBlocks()->graphMoves(child, graph);
    } catch (const std::exception& error) {
      session->note(sentence("memory of a graph could not be followed: ", error.what()));
    }
  return status;
}

int refuseGraphMemory(void* graph, const GraphFunctions& functions, const Next& next) {
  const CallGuard guard;
  Session* session = guard.session();
  const bool isRefused =
      session && session->graphBlocks() && session->graphBlocks()->hasNodes(graph);
  return isRefused ? refuse(kNotSupported, functions) : next();
}

int watchNodeDestroy(void* node, const GraphFunctions& functions, const Next& next) {
  const CallGuard guard;
  Session* session = guard.session();
  const bool isRefused =
      session && session->graphBlocks() && session->graphBlocks()->nodeOf(node).has_value();
  if (isRefused)
    return refuse(kNotSupported, functions);
  forgetBodiesOf(node); // before the vendor gives the handle to another one
  const int status = next();
  if (status == 0 && session && session->isOwner())
    session->graphs().nodeEnds(node);
  return status;
}

} // namespace mneme::record
