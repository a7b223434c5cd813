// Executable graphs. An executable graph is a copy of the graph as it was, with its nodes, those of
// graphs in graphs too, in an order to run them in.
#include <algorithm>
#include <set>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_nodes.h"
#include "runtime/emulator/runtimes/core/handle_table.h"

namespace mneme::cpu_runtime {
namespace {

constexpr unsigned long long kAutoFreeOnLaunch = 1, kDeviceLaunch = 4, kKnownFlags = 15;

struct GraphExec {
  std::shared_ptr<Graph> graph;
  unsigned long long flags = 0;
  std::vector<Node*> order;
  std::unordered_map<const void*, Node*> byOriginal;
  bool mayWait = false; ///< for the host
  std::mutex running;   ///< launches of one executable graph come one after the other
};

HandleTable<GraphExec>& execs() {
  static auto* table = new HandleTable<GraphExec>;
  return *table;
}

/// False if there is no order.
bool flatten(const Graph& graph, GraphExec& exec) {
  const std::vector<Node*> order = graph.order();
  for (Node* node : order) {
    exec.byOriginal[node->original] = node;
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (!flatten(*child->graph, exec))
        return false;
    } else {
      exec.order.push_back(node);
    }
  }
  return order.size() == graph.nodes().size();
}

Status instantiate(void** out, void* handle, unsigned long long flags) {
  const auto graph = findGraph(handle);
  if (!out || !graph || flags & ~kKnownFlags)
    return Status::InvalidValue;
  if (flags & kDeviceLaunch) {
    noticeOnce("graphs that are launched by kernels are not supported on the CPU device");
    return Status::NotSupported;
  }
  if (graph->hasMemory() && !graph->runnable.expired())
    return Status::NotSupported;
  auto exec = std::make_shared<GraphExec>();
  exec->graph = graph->clone();
  exec->flags = flags;
  if (!flatten(*exec->graph, *exec))
    return Status::InvalidValue;
  for (const Node* node : exec->order)
    if (const Status status = prepareWork(node->work); status != Status::Success)
      return status;
  exec->mayWait = mayWaitForHost(ChildWork{exec->graph});
  if (graph->hasMemory())
    graph->runnable = exec;
  *out = execs().add(std::move(exec));
  return Status::Success;
}

/// Checks for memory that an earlier launch has allocated and that has not been freed, and for what
/// would be freed twice.
Status checkMemory(const GraphExec& exec) {
  std::set<const void*> allocated;
  for (const Node* node : exec.order) {
    if (const auto* free = std::get_if<FreeWork>(&node->work);
        free && !allocated.contains(free->pointer) && isDeadGraphMemory(free->pointer))
      return Status::InvalidValue;
    if (const auto* alloc = std::get_if<AllocWork>(&node->work))
      allocated.insert(alloc->memory->address());
    if (const auto* alloc = std::get_if<AllocWork>(&node->work); alloc && alloc->memory->isLive()) {
      bool isFreed = false;
      if (!(exec.flags & kAutoFreeOnLaunch))
        return Status::InvalidValue;
      freeGraphMemory(alloc->memory->address(), isFreed);
    }
  }
  return Status::Success;
}

Status launch(GraphExec& exec) {
  const std::lock_guard lock(exec.running);
  Status status = checkMemory(exec);
  for (size_t index = 0; index < exec.order.size() && status == Status::Success; ++index)
    if (exec.order[index]->isEnabled)
      status = runWork(exec.order[index]->work);
  return status;
}

/// Gives every node of `target` the work of its partner.
Status takeOver(Graph& target, const Graph& source) {
  for (size_t index = 0; index < target.nodes().size(); ++index) {
    Node& node = *target.nodes()[index];
    const Node& partner = *source.nodes()[index];
    if (auto* child = std::get_if<ChildWork>(&node.work)) {
      const Status status = takeOver(*child->graph, *std::get<ChildWork>(partner.work).graph);
      if (status != Status::Success)
        return status;
    } else if (node.work.index() < Work(AllocWork{}).index()) {
      node.work = partner.work;
    }
  }
  return Status::Success;
}

/// Whether every node of `graph` could run as it is.
Status prepareAll(const Graph& graph, Node** failed) {
  for (const auto& node : graph.nodes()) {
    const auto* child = std::get_if<ChildWork>(&node->work);
    const Status status = child ? prepareAll(*child->graph, failed) : prepareWork(node->work);
    if (status != Status::Success) {
      *failed = node.get();
      return status;
    }
  }
  return Status::Success;
}

Status update(GraphExec& exec, const Graph& graph, GraphExecUpdateResultInfo& info) {
  Node* differs = nullptr;
  info = {compareShapes(*exec.graph, graph, &differs), nullptr, nullptr};
  if (info.result == UpdateResult::Success && graph.hasMemory())
    info.result = UpdateResult::NotSupported;
  if (info.result == UpdateResult::Success && prepareAll(graph, &differs) != Status::Success)
    info.result = UpdateResult::ParametersChanged;
  info.errorNode = differs;
  if (info.result != UpdateResult::Success)
    return Status::GraphExecUpdateFailure;
  const std::lock_guard lock(exec.running);
  return takeOver(*exec.graph, graph);
}

Status launchOn(void* handle, void* stream) {
  const auto exec = execs().find(handle);
  if (!exec)
    return Status::InvalidValue;
  // No graph is launched into a capture; it becomes part of another as a node.
  if (!isLegacyStream(stream))
    if (const Status status = mayWaitFor(stream); status != Status::Success)
      return status;
  const auto makeWork = [&](Work& work) {
    const std::lock_guard lock(graphLock());
    ChildWork child{exec->graph->clone()};
    child.graph->isChild = true;
    work = std::move(child);
    return Status::Success;
  };
  return onStream(stream, makeWork, [&] {
    if (!exec->mayWait)
      return launch(*exec);
    Work work;
    Status status = checkMemory(*exec);
    if (status == Status::Success)
      status = makeWork(work);
    if (status == Status::Success)
      runBehind(stream, std::move(work));
    return status;
  });
}

/// A node that may be left out of launches.
Node* findOptional(void* exec, void* handle) {
  Node* node = findExecNode(exec, handle);
  const bool isOptional = node && (std::holds_alternative<KernelWork>(node->work) ||
                                   std::holds_alternative<CopyWork>(node->work) ||
                                   std::holds_alternative<FillWork>(node->work));
  return isOptional ? node : nullptr;
}

} // namespace

Node* findExecNode(void* exec, void* handle) {
  const auto found = execs().find(exec);
  if (!found || !findNode(handle))
    return nullptr;
  const auto node = found->byOriginal.find(handle);
  return node == found->byOriginal.end() ? nullptr : node->second;
}

void visitKernels(void* handle, const std::function<void(Node& node, KernelWork& work)>& visit) {
  const auto exec = execs().find(handle);
  if (!exec)
    return;
  const std::lock_guard lock(exec->running);
  for (Node* node : exec->order)
    if (auto* kernel = std::get_if<KernelWork>(&node->work))
      visit(*node, *kernel);
  exec->mayWait = mayWaitForHost(ChildWork{exec->graph});
}

} // namespace mneme::cpu_runtime

using namespace mneme::cpu_runtime;

MNEME_RUNTIME_API Status gpuGraphInstantiateWithFlags(void** exec, void* graph,
                                                      unsigned long long flags) {
  return withGraphs([&] { return instantiate(exec, graph, flags); });
}

MNEME_RUNTIME_API Status gpuGraphInstantiateWithParams(void** exec, void* graph,
                                                       GraphInstantiateParams* params) {
  return withGraphs([&] {
    if (!params || !isStream(params->uploadStream))
      return Status::InvalidValue;
    const Status status = instantiate(exec, graph, params->flags);
    params->errNode_out = nullptr;
    params->result_out = status == Status::Success ? 0 : 1;
    return status;
  });
}

MNEME_RUNTIME_API Status gpuGraphExecGetFlags(void* handle, unsigned long long* flags) {
  return withGraphs([&] {
    const auto exec = execs().find(handle);
    if (!exec || !flags)
      return Status::InvalidValue;
    *flags = exec->flags;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphExecDestroy(void* exec) {
  return withGraphs([&] { return execs().remove(exec) ? Status::Success : Status::InvalidValue; });
}

/// Host functions of the graph may themselves use graphs: no lock is held while it runs.
MNEME_RUNTIME_API Status gpuGraphLaunch(void* exec, void* stream) {
  return api([&] { return launchOn(exec, stream); });
}

MNEME_RUNTIME_API Status gpuGraphUpload(void* exec, void* stream) {
  return withGraphs([&] {
    if (!isStream(stream))
      return Status::InvalidResourceHandle;
    return execs().find(exec) ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphExecUpdate(void* handle, void* graphHandle,
                                            GraphExecUpdateResultInfo* info) {
  return withGraphs([&] {
    const auto exec = execs().find(handle);
    const auto graph = findGraph(graphHandle);
    if (!exec || !graph || !info)
      return Status::InvalidValue;
    return update(*exec, *graph, *info);
  });
}

MNEME_RUNTIME_API Status gpuGraphExecChildGraphNodeSetParams(void* exec, void* handle,
                                                             void* childHandle) {
  return withGraphs([&] {
    Node* node = findExecNode(exec, handle);
    const auto child = findGraph(childHandle);
    auto* work = node ? std::get_if<ChildWork>(&node->work) : nullptr;
    if (!work || !child || compareShapes(*work->graph, *child, nullptr) != UpdateResult::Success)
      return Status::InvalidValue;
    Node* failed = nullptr;
    const Status status = prepareAll(*child, &failed);
    return status == Status::Success ? takeOver(*work->graph, *child) : status;
  });
}

MNEME_RUNTIME_API Status gpuGraphNodeSetEnabled(void* exec, void* handle, unsigned isEnabled) {
  return withGraphs([&] {
    Node* node = findOptional(exec, handle);
    if (node)
      node->isEnabled = isEnabled != 0;
    return node ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphNodeGetEnabled(void* exec, void* handle, unsigned* isEnabled) {
  return withGraphs([&] {
    const Node* node = findOptional(exec, handle);
    if (!node || !isEnabled)
      return Status::InvalidValue;
    *isEnabled = node->isEnabled;
    return Status::Success;
  });
}
