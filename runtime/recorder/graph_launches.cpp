#include "runtime/recorder/graph_launches.h"

#include "runtime/core/base/last_error.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/graph_memory.h"
#include "runtime/recorder/refusals.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

/// Calls `next`; if that succeeds, `follow` is called with the recorder's view of the graph.
template <typename Follow> int watchExec(void* exec, const Next& next, const Follow& follow) {
  const CallGuard guard;
  const int status = next();
  Session* session = guard.session();
  const bool isSeen = status == 0 && session && session->isOwner();
  const auto graph = isSeen ? session->graphs().find(exec) : nullptr;
  if (!graph)
    return status;
  try {
    follow(*graph);
  } catch (const std::exception&) { // reported when the graph is launched
    graph->lose();
  }
  return status;
}

void follow(Session& session, void* exec, void* graph, const GraphFunctions& functions) {
  unsigned long long flags = 0;
  {
    const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
    noteGraphMemory(*session.memory(), graph, functions);
    if (functions.execFlags)
      functions.execFlags(exec, &flags);
  }
  session.graphs().forget(exec);
  const auto find = [&session](const void* function) { return session.findKernel(function).info; };
  const auto isKnown = [find](const void* function) {
    const auto info = find(function);
    return info && info->blob;
  };
  const auto mayLeave = [find, &functions](const void* function) {
    const auto info = find(function);
    return info && info->blob && !setsConditions(*info, functions.conditionSetters);
  };
  const KnownKernels known{isKnown, mayLeave};
  const char* const whyNot = session.leavesGraphsWhole() ? ExecutableGraph::kAsked : nullptr;
  if (functions.canRun())
    session.graphs().set(
        exec, std::make_shared<ExecutableGraph>(graph, exec, flags, functions, known, whyNot));
}

constexpr int kUnsupportedInCapture = 900, kNotSupported = 801; // of all vendors

/// Calls `action` with the memory of graphs, if the recorder has some.
template <typename Action> void withBlocks(Session* session, const Action& action) {
  if (!session || !session->isOwner() || !session->graphBlocks())
    return;
  try {
    action(*session->graphBlocks());
  } catch (const std::exception& error) {
    session->note(sentence("memory of a graph could not be followed: ", error.what()));
  }
}

void noteMemory(Session* session, void* exec, void* graph, const GraphFunctions& functions) {
  withBlocks(session, [&](GraphBlocks& blocks) {
    constexpr unsigned long long kFreesItself = 1; // a flag of all vendors
    unsigned long long flags = 0;
    const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
    if (functions.execFlags)
      functions.execFlags(exec, &flags);
    blocks.execMade(exec, graph, (flags & kFreesItself) != 0);
  });
}

bool hasOtherExec(Session* session, void* graph) {
  bool has = false;
  withBlocks(session, [&](GraphBlocks& blocks) { has = blocks.isInstantiated(graph); });
  return has;
}

} // namespace

int watchInstantiate(void** exec, void* graph, const GraphFunctions& functions, const Next& next) {
  const CallGuard guard;
  Session* session = guard.session();
  if (hasOtherExec(session, graph))
    return refuse(kNotSupported, functions);
  const int status = next();
  if (status == 0 && exec)
    noteMemory(session, *exec, graph, functions);
  if (status != 0 || !session || !session->isActive() || !exec || !functions.canRead())
    return status;
  try {
    follow(*session, *exec, graph, functions);
  } catch (const std::exception& error) {
    session->note(sentence("a graph could not be followed: ", error.what()));
  }
  return status;
}

int watchExecDestroy(void* exec, const Next& next) {
  const CallGuard guard;
  // Before the vendor gives its handle to another one, and ends objects that the graph refers to.
  if (Session* session = guard.session(); session && session->isOwner())
    session->graphs().forget(exec);
  withBlocks(guard.session(), [&](GraphBlocks& blocks) { blocks.execEnds(exec); });
  return next();
}

int watchExecChange(void* exec, void* node, const std::function<int(void* node)>& change,
                    const Next& next) {
  return watchExec(exec, next, [&](ExecutableGraph& graph) { graph.changeNode(node, change); });
}

int watchExecEnable(void* exec, void* node, bool isEnabled, const Next& next) {
  return watchExec(exec, next, [&](ExecutableGraph& graph) { graph.setOff(node, !isEnabled); });
}

int watchExecChild(void* exec, void* node, void* child, const Next& next) {
  return watchExec(exec, next, [&](ExecutableGraph& graph) { graph.setChild(node, child); });
}

int watchExecUpdate(void* exec, void* other, const Next& next) {
  const int status = watchExec(exec, next, [&](ExecutableGraph& graph) { graph.update(other); });
  if (status == 0 && !isInsideCall())
    withBlocks(Session::existing(), [&](GraphBlocks& blocks) { blocks.execUpdated(exec, other); });
  return status;
}

int launchGraph(void* exec, void* stream, const char* unknown, const GraphFunctions& functions,
                const Next& next) {
  Session* session = isInsideCall() ? nullptr : Session::existing();
  const auto launch = [&] {
    if (!session || !session->isActive())
      return next();
    const auto graph = session->graphs().find(exec);
    return graph ? session->launchGraph(*graph, stream, next)
                 : session->launchUnknownGraph(unknown, next);
  };
  GraphBlocks* blocks = session && session->isOwner() ? session->graphBlocks() : nullptr;
  if (!blocks || !blocks->isOf(exec))
    return launch();
  // No vendor makes a graph that allocates memory a part of another one.
  if (isCapturingGraph(session->backend(), stream))
    return refuse(kUnsupportedInCapture, functions);
  std::optional<int> launched, status;
  withBlocks(session, [&](GraphBlocks& all) {
    status = all.launch(exec, [&] { return *(launched = launch()); });
  });
  if (status && !launched)
    return refuse(*status, functions);
  if (!status)
    status = launched ? *launched : launch(); // memory could not be followed, which was noted
  return *status;
}

} // namespace mneme::record
