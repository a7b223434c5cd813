// Room recorder: launches of executable graphs, as the session sees them. A graph with a kernel
// that is to be recorded is launched in parts, one after the other in the same stream: the kernel
// by itself, and what comes before and behind it.
#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/core/base/sentence.h"
#include "runtime/recorder/captures_relaxed.h"
#include "runtime/recorder/executable_graph.h"
#include "runtime/recorder/loaded_code.h"
#include "runtime/recorder/node_kernels.h"
#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

constexpr const char* kGraph = "a graph was launched whose kernels are not recorded: ";
constexpr const char* kAmong =
    "its launches in a graph with conditional nodes are not recorded: it runs neither before nor "
    "behind what has to stay in that graph, such as host functions and kernels that set conditions";
constexpr const char* kSets =
    "its launches in a graph with conditional nodes are not recorded: it sets their conditions, "
    "which it cannot alone";
constexpr const char* kElsewhere =
    "was not recorded: it runs on another device than the stream that its graph is launched in";

} // namespace

/// Ends what textures of a kept graph have in memory, at the end of its launch.
class Session::KeptTextures {
public:
  KeptTextures(Session& session, const GraphFunctions& functions, const Attempt& attempt,
               const WorkPlace& place)
      : session_(session), functions_(functions), graph_(attempt.companions), place_(place) {}
  ~KeptTextures() {
    if (!graph_ || !graph_->textures)
      return;
    const CallGuard guard;
    const CapturesRelaxed relaxed(functions_.exchangeCaptureMode);
    const AtPlace there(session_.backend_, place_);
    if (!there.isThere()) // its context is gone, with the memory
      graph_->textures->abandon();
    graph_->textures.reset();
  }
  KeptTextures(const KeptTextures&) = delete;
  KeptTextures& operator=(const KeptTextures&) = delete;

private:
  Session& session_;
  const GraphFunctions& functions_;
  const std::shared_ptr<Companions> graph_;
  const WorkPlace place_;
};

/// Counts a launch of a kernel that cannot be recorded; true if it would be recorded otherwise.
bool Session::countUnrecorded(const void* function) {
  const auto [handle, info] = findKernel(function);
  if (!info || !info->blob) {
    noteKernelOnce(info ? whyUnreadable(*info) : kNotBuilt, function);
    return false;
  }
  launches_.fetch_add(1, std::memory_order_relaxed);
  if (!info->isWanted || !info->state)
    return false;
  const std::lock_guard lock(info->state->mutex);
  ++info->state->launches;
  return true;
}

/// Names kernels of a graph that no launch of it records, and counts its launches.
bool Session::nameUnrecorded(ExecutableGraph& graph) {
  const auto nameOnce = [&](const void* function, const char* why) {
    const auto info = findKernel(function).info;
    if (!info || !info->blob || info->isWanted)
      noteKernelOnce(!info ? kNotBuilt : info->blob ? why : whyUnreadable(*info), function);
  };
  bool isNamed = false;
  for (const auto* functions : {&graph.unreadable(), &graph.inChildren()})
    for (const void* function : *functions)
      isNamed |= countUnrecorded(function);
  if (std::exchange(graph.areStayingNamed, true))
    return isNamed;
  for (const auto& [function, why] : graph.staying())
    nameOnce(function, why);
  return isNamed;
}

/// A graph that is launched as it is: counts the launches of its kernels, and says why they are not
/// recorded. `isAny` tells whether others of it would be.
void Session::countWhole(ExecutableGraph& graph, bool isAny) {
  for (GraphNode* node : graph.kernels()) {
    if (!node->isStandIn)
      readNode(*this, graph, *node);
    if (node->kernel.node.function)
      isAny |= countUnrecorded(node->kernel.node.function);
  }
  if (isAny)
    noteOnce((std::string(kGraph) + graph.whyNot()).c_str(), &graph);
}

/// A kernel that stays in its graph: its launch is only counted.
Session::Attempt Session::leaveInGraph(GraphNode& node) {
  Attempt attempt;
  attempt.info = node.kernel.info;
  attempt.isWanted = isWantedHere(*attempt.info);
  if (!attempt.isWanted || std::exchange(node.isNamed, true))
    return attempt;
  if (attempt.info->state)
    noteKernelOnce(node.kernel.setsConditions ? kSets : kAmong, node.kernel.node.function);
  else
    note(attempt.info->whyNot);
  return attempt;
}

/// Drops a recording that something stands against.
void Session::dropImpossible(const ExecutableGraph& graph, const GraphNode& node,
                             const mneme_launch& launch, void* stream, Attempt& attempt) {
  if (const std::string reason = whyNot(attempt, launch); !reason.empty()) {
    note(reason);
    dropRecording(attempt, nullptr, true);
  } else if (isElsewhere(graph.functions(), node.kernel.node, stream)) {
    dropRecording(attempt, kElsewhere, false);
  }
}

/// Decides about each kernel; true if any is to be recorded. If none is, all are counted.
bool Session::decideGraph(ExecutableGraph& graph, void* stream, std::vector<Attempt>& attempts) {
  const std::vector<GraphNode*> kernels = graph.kernels();
  bool isAny = false;
  attempts.resize(kernels.size());
  std::vector<mneme_launch> launches(kernels.size());
  for (size_t index = 0; index < kernels.size(); ++index) {
    GraphNode& node = *kernels[index];
    readNode(*this, graph, node);
    Attempt& attempt = attempts[index];
    attempt.isCounted = !node.kernel.info;
    node.isWanted = false;
    if (!node.kernel.info)
      continue;
    const bool isAmong = node.place == NodePlace::Among;
    if (isAmong && (!graph.isChosen || node.kernel.setsConditions)) {
      attempt = leaveInGraph(node);
      continue;
    }
    const mneme_launch launch = launches[index] = launchOf(node.kernel, stream);
    const LaunchTraits traits = traitsOf(node.kernel);
    attempt = decide(launch, &traits);
    if (!attempt.isRecorded)
      continue;
    if (isAmong) // it became due just now: the next launch records it
      dropRecording(attempt, nullptr, true);
    else
      dropImpossible(graph, node, launch, stream, attempt);
    node.isWanted = attempt.isRecorded;
    isAny |= node.isWanted;
  }
  return keepGraph(graph, attempts, launches) || isAny;
}

int Session::launchWhole(std::vector<Attempt>& attempts, const char* why, const Next& whole) {
  for (Attempt& attempt : attempts)
    if (attempt.isRecorded)
      dropRecording(attempt, why, true);
  const CallGuard guard;
  for (Attempt& attempt : attempts)
    count(attempt);
  return whole();
}

/// A kernel by itself, as the vendor launches a graph with nothing else.
int Session::launchPart(RunnablePart& part, Attempt* attempt, void* stream,
                        const WorkPlace& place) {
  const auto call = [&] { return part.launch(stream); };
  if (attempt)
    return makeAlone(*attempt, {.launch = launchOf(part.kernel->kernel, stream), .place = place},
                     call);
  const CallGuard guard;
  return call();
}

int Session::launchParts(const GraphFunctions& functions, std::vector<Attempt>& attempts,
                         std::vector<RunnablePart>& parts, void* stream, const WorkPlace& place) {
  {
    const CallGuard guard;
    for (Attempt& attempt : attempts)
      if (!attempt.isRecorded)
        count(attempt);
  }
  // All have the same textures, or none.
  const KeptTextures textures(*this, functions, attempts.front(), place);
  int status = 0;
  auto next = attempts.begin(); // kernels are parts in the order of the attempts
  const auto isRecorded = [](const Attempt& attempt) { return attempt.isRecorded; };
  for (RunnablePart& part : parts) {
    Attempt* attempt = nullptr;
    if (part.kernel) {
      attempt = &*std::find_if(next, attempts.end(), isRecorded);
      next = attempts.begin() + (attempt - attempts.data()) + 1;
    }
    if (status == 0)
      status = launchPart(part, attempt, stream, place);
    else if (attempt)
      dropRecording(*attempt, nullptr, true);
  }
  return status;
}

/// The vendor keeps launches of one executable graph in their order, whatever their streams.
void Session::orderBehindParts(ExecutableGraph& graph, void* stream) {
  if (const unsigned* const word = graph.goesOn()) { // the rest of a launch, in another stream
    graph.functions().waitForWord(stream, word);
    return;
  }
  const auto before = std::exchange(graph.streamOfParts, std::nullopt);
  if (before && *before != stream && !isCapturingAny()) // else waiting would end the capture
    backend_.synchronizeWithin(graph.deviceOfParts, Patience(kernelPatience()));
}

int Session::launchGraph(ExecutableGraph& graph, void* stream, const Next& whole) {
  const DeferredCancellation cancellation;
  std::vector<Attempt> attempts;
  std::vector<RunnablePart> parts;
  bool isChosen = false;
  {
    const CallGuard guard;
    if (isCapturingGraph(backend_, stream))
      return whole(); // it becomes a part of another graph
    try {
      orderBehindParts(graph, stream);
      isChosen = mayRecordInBodies(graph, stream);
      const bool isNamed = nameUnrecorded(graph);
      if (graph.whyNot())
        countWhole(graph, isNamed);
      if (graph.whyNot() || (!isChosen && !decideGraph(graph, stream, attempts))) {
        for (Attempt& attempt : attempts)
          count(attempt);
        return whole();
      }
      if (!isChosen)
        parts = graph.cut();
    } catch (const std::exception& error) {
      note(sentence(kGraph, error.what()));
      graph.lose(ExecutableGraph::kWhole);
    }
  }
  if (parts.empty() && !isChosen)
    return launchWhole(attempts, nullptr, whole);
  const auto known = isDefaultStream(stream) ? std::nullopt : backend_.placeOf(stream);
  const WorkPlace place = known ? *known : backend_.currentPlace();
  if (!backend_.synchronizeWithin(place.device, Patience(kernelPatience())))
    return launchWhole(attempts, kDeviceBusy, whole);
  graph.streamOfParts = stream;
  graph.deviceOfParts = place.device;
  if (isChosen)
    return launchChosen(graph, stream, place, whole);
  const int status = launchParts(graph.functions(), attempts, parts, stream, place);
  if (!std::ranges::all_of(parts, &RunnablePart::isPutBack)) {
    const CallGuard guard;
    note(sentence(kGraph, ExecutableGraph::kIncomplete));
    graph.lose(ExecutableGraph::kIncomplete);
  }
  return status;
}

/// One launch, whatever is in it.
int Session::launchUnknownGraph(const char* what, const Next& whole) {
  const CallGuard guard;
  const int status = whole();
  if (status != 0 || !isActive())
    return status;
  launches_.fetch_add(1, std::memory_order_relaxed);
  noteOnce(what, what);
  return status;
}

} // namespace mneme::record
