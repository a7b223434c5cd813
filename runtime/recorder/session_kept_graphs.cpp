// Graphs that are kept as a sequence (--graph): all of their kernels are recorded at one launch,
// each with the memory of all.
#include <algorithm>

#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

/// As an entry of Settings::shapes: launches of graphs do not use up the limits of others.
constexpr size_t kShapeOfGraph = SIZE_MAX;

} // namespace

/// Why a graph with this kernel is not kept; empty if it can be.
std::string Session::whyNotKept(const GraphNode& node, const Attempt& attempt,
                                const mneme_launch& launch) const {
  if (!attempt.info || !attempt.info->blob)
    return "a kernel in it was not built with mneme";
  if (!attempt.info->state)
    return attempt.info->whyNot;
  if (!node.isWanted && attempt.isRecorded)
    return "a kernel in it cannot be recorded";
  return whyNot(attempt, launch);
}

/// Takes over what was decided about each kernel of a graph by itself: if one of them is wanted,
/// and all can be recorded, all are, also those that were recorded before.
bool Session::keepGraph(const ExecutableGraph& graph, std::vector<Attempt>& attempts,
                        const std::vector<mneme_launch>& launches) {
  const std::vector<GraphNode*> kernels = graph.kernels();
  if (!settings_.areGraphsKept || !isActive() || std::ranges::none_of(attempts, &Attempt::isWanted))
    return false;
  const std::vector<SequenceNode> sequence = graph.sequence();
  KeptGraph kept;
  kept.nodes = keptNodes(sequence);
  const auto each = [&](auto&& visit) { // kernels are in the order of the sequence
    for (size_t index = 0, place = 0; place < kept.nodes.size() && index < kernels.size(); ++place)
      if (sequence[place].node == kernels[index])
        visit(kept.nodes[place], index++);
  };
  std::string why = graph.hasConditions() ? "it has conditional nodes" : "";
  for (size_t index = 0; index < kernels.size() && why.empty(); ++index)
    why = whyNotKept(*kernels[index], attempts[index], launches[index]);
  if (!why.empty()) {
    noteOnce(sentence("a graph is not kept as a sequence: ", why).c_str(), &graph);
    return false;
  }
  each([&](KeptNode& node, size_t index) {
    Attempt& attempt = attempts[index];
    const KernelInfo& info = *attempt.info;
    attempt.traits = {.isCooperative = kernels[index]->kernel.node.isCooperative,
                      .cluster = kernels[index]->kernel.node.cluster};
    node.kernel = info.blob->demangled;
    node.staticHash = info.blob->staticHash;
    node.dynamicHash = dynamicHash(*info.blob, launches[index], attempt.traits);
  });
  const uint64_t hash = graphHash(kept.nodes);
  if (!keptGraphs_.isDue(hash, settings_.skipRecordings))
    return false;
  auto companions = std::make_shared<Companions>();
  for (size_t index = 0; index < kernels.size(); ++index)
    companions->launches.push_back({attempts[index].info, launches[index]});
  each([&](KeptNode& node, size_t index) {
    recordForGraph(attempts[index], combineHashes(hash, index + 1), node.dynamicHash);
    attempts[index].companions = companions;
    node.dynamicHash = attempts[index].dynamicHash;
    kernels[index]->isWanted = true;
  });
  kept.labels = attempts.front().labels;
  keptGraphs_.keep(hash, std::move(kept));
  return true;
}

/// A launch that was recorded before, or is beyond a limit, has another name in a graph.
void Session::recordForGraph(Attempt& attempt, uint64_t salt, uint64_t dynamicHash) {
  if (attempt.isRecorded)
    return;
  attempt.isWanted = attempt.isRecorded = true;
  attempt.dynamicHash = combineHashes(dynamicHash, salt);
  attempt.shape = kShapeOfGraph;
  KernelState& state = *attempt.info->state;
  const std::lock_guard lock(state.mutex);
  ++state.recorded[kShapeOfGraph];
  // It was counted as another launch with the name that it has elsewhere.
  if (const auto other = state.instances.find(dynamicHash);
      other != state.instances.end() && other->second.occurrences > 1)
    --other->second.occurrences;
  state.instances[attempt.dynamicHash] = {Fate::Recorded, 1};
}

/// The kernels of a graph see one memory: each is recorded with what any of them can see.
void Session::addGlobalsOfGraph(const Attempt& attempt, std::vector<artifact::Region>& regions) {
  if (!attempt.companions)
    return;
  for (const auto& [info, launch] : attempt.companions->launches) {
    std::vector<artifact::Region> found;
    addGlobals(*info, launch.kernel, found);
    for (artifact::Region& region : found)
      if (std::ranges::none_of(regions, [&](const artifact::Region& known) {
            return known.address == region.address;
          }))
        regions.push_back(std::move(region));
  }
}

void Session::addArgumentsOfGraph(const Attempt& attempt, const mneme_launch& launch, Reach& reach,
                                  DeviceAccess& access, std::vector<artifact::Region>& regions) {
  if (!attempt.companions)
    return;
  for (const auto& [info, other] : attempt.companions->launches)
    if (other.args != launch.args)
      addArguments(*info, other, reach, access, regions);
}

/// Writes the graphs of which every kernel was recorded; returns sentences about them.
std::vector<std::string> Session::writeGraphs() {
  size_t whole = 0, kernels = 0;
  std::vector<std::string> said;
  for (const auto& [hash, graph] : keptGraphs_.all()) {
    std::string lost;
    catalog_->visitStates([&](uint64_t staticHash, KernelState& state) {
      const std::lock_guard lock(state.mutex);
      for (const KeptNode& node : graph.nodes) {
        if (node.kernel.empty() || node.staticHash != staticHash)
          continue;
        const auto found = state.instances.find(node.dynamicHash);
        if (found == state.instances.end() || found->second.fate != Fate::Recorded)
          lost = node.kernel;
      }
    });
    try {
      if (lost.empty()) {
        runApart([&, of = hash, &one = graph] { writeGraph(settings_.directory, of, one); });
        ++whole;
        kernels += graph.kernelCount();
        continue;
      }
      lost = "kernel '" + lost + "' in it was not recorded";
    } catch (const std::exception& error) {
      lost = error.what();
    }
    said.push_back("a graph is not kept as a sequence: " + lost);
  }
  if (whole > 0)
    said.insert(said.begin(), "kept " + std::to_string(whole) +
                                  (whole == 1 ? " graph" : " graphs") + " of " +
                                  std::to_string(kernels) +
                                  (kernels == 1 ? " kernel" : " kernels") + " as a sequence");
  return said;
}

} // namespace mneme::record
