// Graphs with conditional nodes, as the session launches them: while a kernel in them is to be
// recorded, the host runs the bodies that kernels choose (chosen_parts.h), and each kernel to be
// recorded by itself. What is left then runs as the program has made it.
#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/captures_relaxed.h"
#include "runtime/recorder/chosen_parts.h"
#include "runtime/recorder/loaded_code.h"
#include "runtime/recorder/node_kernels.h"
#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

constexpr const char* kParts = "a graph with conditional nodes cannot be launched in parts: ";
constexpr const char* kLeft =
    "a graph was launched whose bodies of conditional nodes are left whole: ";
constexpr const char* kNotKept = "a graph is not kept as a sequence: it has conditional nodes";
constexpr const char* kBusy =
    "a graph with conditional nodes was not recorded to its end: what runs in it had not ended, "
    "perhaps because a kernel waits for what the program does next, and the program went on; "
    "--kernel-patience SECONDS is for work that only takes long";
constexpr unsigned kMostInVain = 16;
constexpr const char* kNotReached =
    "its launches in bodies of conditional nodes of a graph are not recorded: 16 launches of the "
    "graph in a row recorded nothing, perhaps as they did not reach it, and later ones are left "
    "whole";
constexpr int kUnknownError = 999; // of all vendors

/// There is no more patience with the device.
struct StillBusy {};
struct DeviceFailed {
  int status;
};

/// Calls `visit` with each kernel, and with those in bodies.
template <typename Visit> void visitKernels(const GraphBody& graph, const Visit& visit) {
  for (const auto& node : graph.nodes) {
    if (is(*node, NodeKind::Kernel))
      visit(*node);
    for (const auto& body : node->bodies)
      visitKernels(*body, visit);
  }
}

} // namespace

/// One launch of such a graph.
struct Session::Chosen {
  /// A graph that runs, and where: nodes before the next one were launched. In all but the
  /// innermost, the next one is the conditional node whose body runs.
  struct Frame {
    const GraphBody* body;
    size_t next = 0;

    ChosenParts::Run upTo(size_t end) const {
      const auto begin = body->order.begin();
      return {begin + static_cast<ptrdiff_t>(next), begin + static_cast<ptrdiff_t>(end)};
    }
  };

  std::shared_ptr<ExecutableGraph> graph;
  void* stream;
  WorkPlace place;
  ChosenParts parts;
  unsigned* done; ///< is 1 when all was launched and has run, if goOnApart() waits for that
  std::vector<Frame> frames;
  int status = 0;
  bool isOfUse = false; ///< a kernel was recorded, or is nearer to the launch that -sr names

  /// Whether what runs now may run again: conditions keep their values then.
  bool isInBody() const { return frames.size() > 1; }

  /// Launches what comes before this node. It is made runnable while the gate is open, as that may
  /// wait for the device.
  void launchUpTo(size_t end) {
    Frame& frame = frames.back();
    const ChosenParts::Run run = frame.upTo(end);
    if (run.empty())
      return;
    parts.prepare(*frame.body, run);
    const CallGuard guard;
    status = parts.launch(*frame.body, run);
    frame.next = end;
  }

  /// Launches all that is left, without recording.
  void launchRest() {
    for (bool isInner = false; !frames.empty() && status == 0; isInner = true) {
      Frame frame = frames.back();
      frames.pop_back();
      const auto& order = frame.body->order;
      if (isInner && order[frame.next]->condition.type != Condition::Type::While)
        ++frame.next;
      const ChosenParts::Run run = frame.upTo(order.size());
      if (!run.empty())
        status =
            frames.empty() ? parts.launch(*frame.body, run) : parts.launchInBody(*frame.body, run);
    }
  }
};

/// Whether decide() would record a launch of it, now or later.
bool Session::mayRecord(const GraphNode& node, void* stream) {
  const KernelInfo* info = node.kernel.info.get();
  if (node.isOff || !info || !info->state || node.kernel.setsConditions || !isWantedHere(*info))
    return false;
  const mneme_launch launch = launchOf(node.kernel, stream);
  const uint64_t hash = dynamicHash(*info->blob, launch, traitsOf(node.kernel),
                                    [this](uint64_t word) { return mayBePointer(word); });
  const LaunchShapes::Match shape = settings_.shapes.match(info->blob->kernel, launch);
  const std::lock_guard lock(info->state->mutex);
  const auto known = info->state->instances.find(hash);
  const bool isOver = known != info->state->instances.end() && known->second.fate != Fate::Passed;
  return !isOver && shape.isWanted && !info->state->isGivenUp &&
         info->state->recorded[shape.entry] < shape.share(settings_.maxRecordings);
}

bool Session::mayRecordIn(const GraphNode& conditional, void* stream) {
  bool isAny = false;
  for (const auto& body : conditional.bodies)
    visitKernels(*body, [&](const GraphNode& node) { isAny = isAny || mayRecord(node, stream); });
  return isAny;
}

/// Whether a kernel is to be recorded that stays in the program's executable graph otherwise.
bool Session::mayRecordInBodies(ExecutableGraph& graph, void* stream) {
  if (!isActive() || graph.whyNot() || !graph.hasConditions() || graph.isChosenInVain)
    return false;
  const auto isWanted = [&](const void* function) {
    const auto info = findKernel(function).info;
    return info && info->isWanted;
  };
  bool isNew = false;
  visitKernels(*graph.body(), [&](GraphNode& node) {
    isNew |= !node.isRead;
    readNode(*this, graph, node);
  });
  if (isNew) {
    const char* const why = whyNotChosen(graph.functions(), *graph.body());
    graph.isChosen = !why;
    if (why && std::ranges::any_of(graph.inBodies(), isWanted))
      noteOnce((std::string(kLeft) + why).c_str(), &graph.isChosen);
  }
  // While something is captured, nothing is recorded, and waiting for the device ends the capture.
  if (!graph.isChosen || isCapturingAny())
    return false;
  return std::ranges::any_of(graph.body()->nodes, [&](const auto& node) {
    return (node->place == NodePlace::Among && mayRecord(*node, stream)) ||
           mayRecordIn(*node, stream);
  });
}

int Session::launchChosen(ExecutableGraph& graph, void* stream, const WorkPlace& place,
                          const Next& whole) {
  const GraphFunctions& vendor = graph.functions();
  const auto wait = [&] {
    if (isCapturingAny()) // meanwhile
      throw StillBusy();
    const auto status = backend_.synchronizeWithin(place.device, Patience(kernelPatience()));
    if (!status)
      throw StillBusy();
    if (*status != 0 && isCapturingAny())
      throw StillBusy();
    if (*status != 0)
      throw DeviceFailed{*status};
  };
  const CapturesRelaxed relaxed(vendor.exchangeCaptureMode); // one may begin meanwhile
  if (settings_.areGraphsKept)
    noteOnce(kNotKept, &graph);
  std::shared_ptr<Chosen> chosen;
  try {
    const CallGuard guard;
    const AtPlace there(backend_, place);
    chosen = std::make_shared<Chosen>(Chosen{
        graph.shared_from_this(), stream, place, {graph, stream, wait}, takeWord(vendor), {}});
  } catch (const std::exception& error) {
    note(sentence(kParts, error.what()));
    graph.isChosen = graph.areStayingNamed = false;
    graph.isChosenInVain = true;
  }
  if (!chosen)
    return launchGraph(graph, stream, whole);
  try {
    const AtPlace there(backend_, place);
    runNodes(*chosen, *graph.body());
    countInVain(graph, chosen->isOfUse, stream);
  } catch (const StillBusy&) {
    note(kBusy);
    return goOnApart(chosen);
  } catch (const DeviceFailed& failed) {
    setDeviceFailed(true);
    return failed.status;
  } catch (const std::exception& error) { // a part was launched: the program gets the error
    note(sentence(kParts, error.what()));
    return kUnknownError;
  }
  return chosen->status;
}

/// A kernel may wait for what the program does next. A thread of the recorder launches what is left
/// in another stream, and the program's stream waits for that. Later launches of the graph are its
/// own, so that nothing changes what the thread reads.
int Session::goOnApart(const std::shared_ptr<Chosen>& chosen) {
  const GraphFunctions& functions = chosen->graph->functions();
  const CapturesRelaxed relaxed(functions.exchangeCaptureMode);
  const AtPlace there(backend_, chosen->place);
  void* other = nullptr;
  *chosen->done = 0;
  void* const mark = backend_.markStream(chosen->stream);
  bool isApart = mark && functions.waitForWord && functions.makeStream &&
                 functions.makeStream(&other) == 0 && backend_.waitOnStream(other, mark);
  noteWork(chosen->place.device, mark);
  if (isApart) {
    std::promise<bool> starts; // the thread has to be there before anything waits for it
    try {
      std::thread([this, chosen, other, isToStart = starts.get_future()]() mutable {
        if (isToStart.get())
          finish(*chosen, other);
      }).detach();
      isApart = functions.waitForWord(chosen->stream, chosen->done) == 0;
      if (isApart)
        chosen->graph->freeze(chosen->done);
      starts.set_value(isApart);
    } catch (const std::exception&) { // there are no more threads
      isApart = false;
    }
  }
  if (isApart)
    return 0;
  if (other && functions.destroyStream)
    functions.destroyStream(other);
  return finish(*chosen, chosen->stream);
}

/// Launches what is left in a stream, and waits for it. Returns the vendor's status.
int Session::finish(Chosen& chosen, void* stream) {
  const AtPlace there(backend_, chosen.place);
  const GraphFunctions& functions = chosen.graph->functions();
  const CapturesRelaxed relaxed(functions.exchangeCaptureMode);
  try {
    chosen.parts.moveTo(stream, [&] { checkGraphCall(functions.waitStream(stream), "waiting"); });
    chosen.launchRest();
  } catch (const std::exception& error) {
    note(sentence(kParts, error.what()));
    chosen.status = kUnknownError;
  }
  functions.waitStream(stream);
  *static_cast<volatile unsigned*>(chosen.done) = 1;
  if (stream != chosen.stream && functions.destroyStream)
    functions.destroyStream(stream);
  return chosen.status;
}

/// Returns whether the conditional node is still to run, as a whole: nothing in it is recorded any
/// more.
bool Session::runBodies(Chosen& chosen, const GraphNode& conditional) {
  do {
    const size_t index = chosen.parts.bodyOf(conditional);
    if (index >= conditional.bodies.size())
      return false;
    runNodes(chosen, *conditional.bodies[index]);
    if (conditional.condition.type != Condition::Type::While || chosen.status != 0)
      return false;
  } while (mayRecordIn(conditional, chosen.stream) ||
           (chosen.isInBody() && leavesUntold(conditional)));
  return true;
}

bool Session::isPassed(const Attempt& attempt) {
  if (!attempt.isWanted || !attempt.info->state)
    return false;
  const std::lock_guard lock(attempt.info->state->mutex);
  const auto known = attempt.info->state->instances.find(attempt.dynamicHash);
  return known != attempt.info->state->instances.end() && known->second.fate == Fate::Passed;
}

/// A launch from the host takes long: after some that were of no use there are no more.
void Session::countInVain(ExecutableGraph& graph, bool isOfUse, void* stream) {
  graph.launchesInVain = isOfUse ? 0 : graph.launchesInVain + 1;
  if (graph.launchesInVain < kMostInVain)
    return;
  const CallGuard guard;
  graph.isChosenInVain = true;
  visitKernels(*graph.body(), [&](const GraphNode& node) {
    if (mayRecord(node, stream))
      noteKernelOnce(kNotReached, node.kernel.node.function);
  });
}

Session::Attempt Session::decideNode(Chosen& chosen, GraphNode& node) {
  const CallGuard guard;
  Attempt attempt;
  attempt.isCounted = !node.kernel.info;
  if (!node.kernel.info || !isActive())
    return attempt;
  if (node.kernel.setsConditions) {
    attempt = leaveInGraph(node);
  } else {
    const mneme_launch launch = launchOf(node.kernel, chosen.stream);
    const LaunchTraits traits = traitsOf(node.kernel);
    attempt = decide(launch, &traits);
    if (attempt.isRecorded)
      dropImpossible(*chosen.graph, node, launch, chosen.stream, attempt);
  }
  chosen.isOfUse |= isPassed(attempt);
  if (!attempt.isRecorded)
    count(attempt);
  return attempt;
}

/// The next node of the innermost graph is a kernel to be recorded.
void Session::runAlone(Chosen& chosen, const GraphNode& node, Attempt& attempt) {
  const GraphBody& body = *chosen.frames.back().body;
  const ChosenParts::Run run{&node};
  const auto call = [&] { return chosen.parts.launch(body, run); };
  try {
    chosen.parts.prepare(body, run);
  } catch (...) {
    dropRecording(attempt, nullptr, true);
    throw;
  }
  chosen.status = makeAlone(
      attempt, {.launch = launchOf(node.kernel, chosen.stream), .place = chosen.place}, call);
  chosen.isOfUse |= attempt.isRecorded;
  ++chosen.frames.back().next;
}

/// Launches the node if it has to be launched by itself; others follow when one such comes, or the
/// end of their graph.
void Session::runNode(Chosen& chosen, const GraphBody& body, size_t index) {
  GraphNode& node = *body.order[index];
  if (node.isOff)
    return;
  if (chosen.isInBody() && isParted(chosen.frames.back().upTo(index), node))
    chosen.launchUpTo(index);
  if (chosen.status != 0)
    return;
  if (is(node, NodeKind::Conditional)) {
    const bool isOpen =
        mayRecordIn(node, chosen.stream) || (chosen.isInBody() && leavesUntold(node));
    if (isOpen || setsConditions(chosen.frames.back().upTo(index)))
      chosen.launchUpTo(index); // what is set is known then
    if (isOpen && chosen.status == 0 && !runBodies(chosen, node))
      ++chosen.frames.back().next;
  } else if (is(node, NodeKind::Kernel)) {
    Attempt attempt = decideNode(chosen, node);
    if (!attempt.isRecorded)
      return;
    try {
      chosen.launchUpTo(index);
    } catch (...) {
      dropRecording(attempt, nullptr, true);
      throw;
    }
    if (chosen.status == 0)
      runAlone(chosen, node, attempt);
    else
      dropRecording(attempt, nullptr, true);
  }
}

void Session::runNodes(Chosen& chosen, const GraphBody& body) {
  chosen.frames.push_back({&body});
  for (size_t index = 0; index < body.order.size() && chosen.status == 0; ++index)
    runNode(chosen, body, index);
  if (chosen.status == 0)
    chosen.launchUpTo(body.order.size());
  chosen.frames.pop_back();
}

} // namespace mneme::record
