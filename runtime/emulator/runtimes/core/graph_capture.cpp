// Stream capture.
#include "runtime/emulator/runtimes/core/graph_capture.h"

#include <algorithm>
#include <set>
#include <thread>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/vendor.h"

namespace mneme::cpu_runtime {

std::atomic<int> activeCaptures{0};

namespace {

enum Mode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };
constexpr unsigned kSetDependencies = 1; // else they are added

struct Capture {
  std::shared_ptr<Graph> graph;
  unsigned long long id = 0;
  int mode = kGlobal;
  std::thread::id thread;
  const void* origin = nullptr;
  std::vector<Node*> left; ///< what streams that are gone by now did last
  bool isInvalid = false;
};

struct Place {
  std::shared_ptr<Capture> capture;
  std::vector<Node*> dependencies;
};

/// Under graphLock().
struct State {
  std::unordered_map<const void*, Place> streams;
  std::unordered_map<void*, Place> events;
  unsigned long long nextId = 1;
};
State& state() {
  static auto* only = new State;
  return *only;
}

thread_local int threadMode = kGlobal;

Place* placeOf(void* stream) {
  const auto found = state().streams.find(streamKey(stream));
  return found == state().streams.end() ? nullptr : &found->second;
}

Status invalidate(Capture& capture, Status status) {
  capture.isInvalid = true;
  return status;
}

std::set<Capture*> captures() {
  std::set<Capture*> found;
  for (const auto& [stream, place] : state().streams)
    found.insert(place.capture.get());
  return found;
}

/// Captures that forbid unsafe calls to this thread.
bool forbids(const Capture& capture) {
  if (threadMode == kRelaxed || capture.mode == kRelaxed)
    return false;
  return capture.thread == std::this_thread::get_id() ||
         (threadMode == kGlobal && capture.mode == kGlobal);
}

Status addNode(Place& place, const MakeWork& make) {
  if (place.capture->isInvalid)
    return Status::StreamCaptureInvalidated;
  Work work;
  if (const Status status = make(work); status != Status::Success)
    return status;
  Node& node = place.capture->graph->add(std::move(work), place.dependencies);
  place.dependencies = {&node};
  return Status::Success;
}

void addUnique(std::vector<Node*>& nodes, const std::vector<Node*>& more) {
  for (Node* node : more)
    if (std::ranges::find(nodes, node) == nodes.end())
      nodes.push_back(node);
}

/// Everything `nodes` depend on, and they.
std::set<const Node*> ancestors(const std::vector<Node*>& nodes) {
  std::set<const Node*> seen;
  std::vector<const Node*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (seen.insert(node).second)
      open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return seen;
}

/// Whether all that other streams of the capture have done is waited for in its first one.
bool isJoined(const Capture& capture, const Place& origin) {
  const auto reached = ancestors(origin.dependencies);
  const auto areReached = [&](const std::vector<Node*>& nodes) {
    return std::ranges::all_of(nodes, [&](const Node* node) { return reached.contains(node); });
  };
  return areReached(capture.left) && std::ranges::all_of(state().streams, [&](const auto& one) {
           return one.second.capture.get() != &capture || areReached(one.second.dependencies);
         });
}

void end(const std::shared_ptr<Capture>& capture) {
  std::erase_if(state().streams, [&](const auto& one) { return one.second.capture == capture; });
  std::erase_if(state().events, [&](const auto& one) { return one.second.capture == capture; });
  --activeCaptures;
}

Status begin(void* stream, int mode, std::shared_ptr<Graph> graph,
             std::vector<Node*> dependencies) {
  if (mode < kGlobal || mode > kRelaxed)
    return Status::InvalidValue;
  if (!isStream(stream))
    return Status::InvalidResourceHandle;
  if (isLegacyStream(stream))
    return Status::StreamCaptureUnsupported;
  if (placeOf(stream))
    return Status::IllegalState;
  auto capture = std::make_shared<Capture>();
  capture->graph = std::move(graph);
  capture->id = state().nextId++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = streamKey(stream);
  state().streams[streamKey(stream)] = {std::move(capture), std::move(dependencies)};
  ++activeCaptures;
  return Status::Success;
}

Status endCapture(void* stream, void** graph) {
  if (!graph)
    return Status::InvalidValue;
  *graph = nullptr;
  if (!isStream(stream))
    return Status::InvalidResourceHandle;
  Place* place = placeOf(stream);
  if (!place)
    return Status::IllegalState;
  const auto capture = place->capture;
  if (capture->origin != streamKey(stream))
    return invalidate(*capture, Status::StreamCaptureUnmatched);
  if (capture->mode != kRelaxed && capture->thread != std::this_thread::get_id()) {
    end(capture); // as on GPUs, there is no capture any more then
    return Status::StreamCaptureWrongThread;
  }
  const bool isComplete = isJoined(*capture, *place);
  end(capture);
  if (capture->isInvalid)
    return Status::StreamCaptureInvalidated;
  if (!isComplete)
    return Status::StreamCaptureUnjoined;
  *graph = findGraph(capture->graph.get()) ? capture->graph.get() : registerGraph(capture->graph);
  return Status::Success;
}

/// Handles stay valid until the thread asks again.
const std::vector<Node*>& keepForThread(const std::vector<Node*>& nodes) {
  static thread_local std::vector<Node*> kept;
  return kept = nodes;
}

struct CaptureInfo {
  int* status;
  unsigned long long* id;
  void** graph;
  Node* const** dependencies;
  const GraphEdgeData** edges;
  size_t* count;
};

Status captureInfo(void* stream, const CaptureInfo& out) {
  if (!out.status)
    return Status::InvalidValue;
  if (!isStream(stream))
    return Status::InvalidResourceHandle;
  *out.status = kNone;
  const Place* place = placeOf(stream);
  if (!place && isLegacyStream(stream) && std::ranges::any_of(state().streams, [](const auto& one) {
        return !isNonBlocking(const_cast<void*>(one.first));
      }))
    return Status::StreamCaptureImplicit;
  if (!place)
    return Status::Success;
  *out.status = place->capture->isInvalid ? kInvalidated : kActive;
  if (place->capture->isInvalid)
    return Status::Success;
  if (out.id)
    *out.id = place->capture->id;
  if (out.graph)
    *out.graph = findGraph(place->capture->graph.get()) ? place->capture->graph.get()
                                                        : registerGraph(place->capture->graph);
  const auto& nodes = keepForThread(place->dependencies);
  if (out.dependencies)
    *out.dependencies = nodes.data();
  if (out.edges)
    *out.edges = nullptr;
  if (out.count)
    *out.count = nodes.size();
  return Status::Success;
}

Status updateDependencies(void* stream, void* const* handles, size_t count, unsigned flags) {
  Place* place = isStream(stream) ? placeOf(stream) : nullptr;
  std::vector<Node*> nodes;
  if (!place)
    return isStream(stream) ? Status::IllegalState : Status::InvalidResourceHandle;
  if (place->capture->isInvalid)
    return Status::StreamCaptureInvalidated;
  if (flags > kSetDependencies || !findNodes(*place->capture->graph, handles, count, nodes))
    return Status::InvalidValue;
  if (flags == kSetDependencies)
    place->dependencies.clear();
  addUnique(place->dependencies, nodes);
  return Status::Success;
}

} // namespace

bool divert(void* stream, const MakeWork& make, Status& status) {
  const std::lock_guard lock(graphLock());
  if (isLegacyStream(stream)) {
    status = mayUseLegacyStream();
    return status != Status::Success;
  }
  Place* place = placeOf(stream);
  if (!place)
    return false;
  status = addNode(*place, make);
  return true;
}

Status mayCallUnsafe() {
  if (!isAnyCapturing())
    return Status::Success;
  const std::lock_guard lock(graphLock());
  Status status = Status::Success;
  for (Capture* capture : captures())
    if (forbids(*capture))
      status = invalidate(*capture, Status::StreamCaptureUnsupported);
  return status;
}

Status mayUseLegacyStream() {
  if (!isAnyCapturing())
    return Status::Success;
  const std::lock_guard lock(graphLock());
  Status status = Status::Success;
  for (const auto& [stream, place] : state().streams)
    if (!isNonBlocking(const_cast<void*>(stream)))
      status = invalidate(*place.capture, Status::StreamCaptureImplicit);
  return status;
}

Status mayWaitFor(void* stream) {
  if (!isAnyCapturing())
    return Status::Success;
  const std::lock_guard lock(graphLock());
  if (isLegacyStream(stream))
    return mayUseLegacyStream();
  Place* place = placeOf(stream);
  return place ? invalidate(*place->capture, Status::StreamCaptureUnsupported) : Status::Success;
}

Status mayWaitForEvent(void* event) {
  if (!isAnyCapturing())
    return Status::Success;
  const std::lock_guard lock(graphLock());
  const auto found = state().events.find(event);
  return found == state().events.end() ? mayCallUnsafe()
                                       : invalidate(*found->second.capture, Status::CapturedEvent);
}

bool captureRecord(void* event, void* stream, bool isExternal, Status& status) {
  if (!isAnyCapturing())
    return false;
  const std::lock_guard lock(graphLock());
  if (isLegacyStream(stream)) {
    status = mayUseLegacyStream();
    return status != Status::Success;
  }
  Place* place = placeOf(stream);
  if (!place)
    return false;
  if (isExternal) {
    status = addNode(*place, [&](Work& work) {
      work = RecordWork{event};
      return Status::Success;
    });
    return true;
  }
  status = place->capture->isInvalid ? Status::StreamCaptureInvalidated : Status::Success;
  if (status == Status::Success)
    state().events[event] = *place;
  return true;
}

bool captureWait(void* stream, void* event, bool isExternal, Status& status) {
  if (!isAnyCapturing())
    return false;
  const std::lock_guard lock(graphLock());
  Place* place = placeOf(stream);
  const auto recorded = state().events.find(event);
  const bool isCaptured = recorded != state().events.end();
  if (!place && !isCaptured)
    return false;
  if (place && isExternal) {
    status = addNode(*place, [&](Work& work) {
      work = WaitWork{event};
      return Status::Success;
    });
    return true;
  }
  if (!isCaptured)
    status = invalidate(*place->capture, Status::StreamCaptureIsolation);
  else if (recorded->second.capture->isInvalid)
    status = Status::StreamCaptureInvalidated;
  else if (!place && isLegacyStream(stream))
    status = invalidate(*recorded->second.capture, Status::StreamCaptureImplicit);
  else if (!place)
    state().streams[streamKey(stream)] = recorded->second, status = Status::Success;
  else if (place->capture != recorded->second.capture)
    status = (invalidate(*place->capture, Status::StreamCaptureMerge),
              invalidate(*recorded->second.capture, Status::StreamCaptureMerge));
  else
    addUnique(place->dependencies, recorded->second.dependencies), status = Status::Success;
  return true;
}

bool isCapturing(void* stream) {
  if (!isAnyCapturing())
    return false;
  const std::lock_guard lock(graphLock());
  int status = 0;
  return captureInfo(stream, {&status, nullptr, nullptr, nullptr, nullptr, nullptr}) !=
             Status::Success ||
         status != 0;
}

void forgetCapturedEvent(void* event) {
  if (!isAnyCapturing())
    return;
  const std::lock_guard lock(graphLock());
  state().events.erase(event);
}

void forgetCapturedStream(void* stream) {
  if (!isAnyCapturing())
    return;
  const std::lock_guard lock(graphLock());
  const Place* place = placeOf(stream);
  if (!place)
    return;
  const auto capture = place->capture;
  if (capture->origin == streamKey(stream)) {
    capture->isInvalid = true;
    end(capture);
    return;
  }
  addUnique(capture->left, place->dependencies); // it may have been waited for, or still be
  state().streams.erase(streamKey(stream));
}

} // namespace mneme::cpu_runtime

using namespace mneme::cpu_runtime;

MNEME_RUNTIME_API Status gpuStreamBeginCapture(void* stream, int mode) {
  return api([&] {
    const std::lock_guard lock(graphLock());
    return begin(stream, mode, std::make_shared<Graph>(), {});
  });
}

/// What edges carry, between the nodes and their count, means nothing here.
MNEME_RUNTIME_API Status gpuStreamBeginCaptureToGraph(void* stream, void* graph,
                                                      void* const* dependencies, const void*,
                                                      size_t count, int mode) {
  return api([&] {
    const std::lock_guard lock(graphLock());
    auto target = findGraph(graph);
    std::vector<Node*> nodes;
    if (!target || !findNodes(*target, dependencies, count, nodes))
      return Status::InvalidValue;
    return begin(stream, mode, std::move(target), std::move(nodes));
  });
}

MNEME_RUNTIME_API Status gpuStreamEndCapture(void* stream, void** graph) {
  return api([&] {
    const std::lock_guard lock(graphLock());
    return endCapture(stream, graph);
  });
}

MNEME_RUNTIME_API Status gpuStreamIsCapturing(void* stream, int* status) {
  return api([&] {
    const std::lock_guard lock(graphLock());
    return captureInfo(stream, {status, nullptr, nullptr, nullptr, nullptr, nullptr});
  });
}

/// With data of edges.
MNEME_RUNTIME_API Status gpuStreamGetCaptureInfo_v3(void* stream, int* status,
                                                    unsigned long long* id, void** graph,
                                                    Node* const** dependencies,
                                                    const GraphEdgeData** edges, size_t* count) {
  return api([&] {
    const std::lock_guard lock(graphLock());
    return captureInfo(stream, {status, id, graph, dependencies, edges, count});
  });
}

/// Without data of edges.
MNEME_RUNTIME_API Status gpuStreamGetCaptureInfo_v2(void* stream, int* status,
                                                    unsigned long long* id, void** graph,
                                                    Node* const** dependencies, size_t* count) {
  return gpuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}

/// With three parameters where edges have no data.
MNEME_RUNTIME_API Status gpuStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id,
                                                 void** graph, Node* const** dependencies,
                                                 const GraphEdgeData** edges, size_t* count) {
  if (!edgesHaveData())
    return gpuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
  return gpuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}

MNEME_RUNTIME_API Status gpuStreamUpdateCaptureDependencies_v2(void* stream, void* const* nodes,
                                                               const void*, size_t count,
                                                               unsigned flags) {
  return api([&] {
    const std::lock_guard lock(graphLock());
    return updateDependencies(stream, nodes, count, flags);
  });
}

/// Where edges have no data, `third` is the count and `fourth` flags.
MNEME_RUNTIME_API Status gpuStreamUpdateCaptureDependencies(void* stream, void* const* nodes,
                                                            uintptr_t third, size_t fourth,
                                                            unsigned flags) {
  return edgesHaveData()
             ? gpuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, fourth, flags)
             : gpuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, third,
                                                     static_cast<unsigned>(fourth));
}

MNEME_RUNTIME_API Status gpuThreadExchangeStreamCaptureMode(int* mode) {
  return api([&] {
    if (!mode || *mode < kGlobal || *mode > kRelaxed)
      return Status::InvalidValue;
    std::swap(*mode, threadMode);
    return Status::Success;
  });
}
