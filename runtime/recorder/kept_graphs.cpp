#include "runtime/recorder/kept_graphs.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"

namespace mneme::record {
namespace {

constexpr int kFormatVersion = 1;

/// By the numbers of NodeKind, which vendors share.
constexpr std::array kKinds = {"kernel",         "memcpy",         "memset",     "host",
                               "graph",          "empty",          "wait event", "record event",
                               "signal others",  "wait for other", "allocation", "free",
                               "batched writes", "conditional"};

std::string kindOf(int number) {
  return number >= 0 && static_cast<size_t>(number) < kKinds.size()
             ? kKinds[static_cast<size_t>(number)]
             : "kind " + std::to_string(number);
}

} // namespace

size_t KeptGraph::kernelCount() const {
  return static_cast<size_t>(
      std::ranges::count_if(nodes, [](const KeptNode& node) { return node.kind == kKinds[0]; }));
}

std::vector<KeptNode> keptNodes(const std::vector<SequenceNode>& sequence) {
  std::vector<KeptNode> nodes;
  for (const SequenceNode& node : sequence)
    nodes.emplace_back() = {kindOf(node.node->kind), node.after, {}, 0, 0, 0};
  return nodes;
}

uint64_t graphHash(const std::vector<KeptNode>& nodes) {
  uint64_t hash = nodes.size();
  for (const KeptNode& node : nodes) {
    hash = combineHashes(hash, hash64(node.kind));
    hash = combineHashes(hash, combineHashes(node.staticHash, node.dynamicHash));
    for (const size_t before : node.after)
      hash = combineHashes(hash, before);
  }
  return hash;
}

std::string graphFileName(uint64_t hash) { return std::to_string(hash) + ".graph"; }

void writeGraph(const std::filesystem::path& directory, uint64_t hash, const KeptGraph& graph) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const KeptNode& node : graph.nodes) {
    nlohmann::json entry{{"Kind", node.kind}, {"After", node.after}};
    if (!node.kernel.empty()) {
      entry["Kernel"] = node.kernel;
      entry["StaticHash"] = std::to_string(node.staticHash);
      entry["RecordId"] = std::to_string(node.dynamicHash);
      entry["RecordedNs"] = node.recordedNs;
    }
    nodes.push_back(std::move(entry));
  }
  const nlohmann::json json{{"FormatVersion", kFormatVersion},
                            {"GraphHash", std::to_string(hash)},
                            {"Labels", graph.labels},
                            {"Nodes", std::move(nodes)}};
  // Names of kernels may hold any bytes.
  writeFileAtomically(directory / graphFileName(hash),
                      json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

bool KeptGraphs::isDue(uint64_t hash, uint64_t skipped) {
  const std::lock_guard lock(mutex_);
  return launches_[hash]++ == skipped;
}

void KeptGraphs::keep(uint64_t hash, KeptGraph graph) {
  const std::lock_guard lock(mutex_);
  graphs_.insert_or_assign(hash, std::move(graph));
}

void KeptGraphs::setTime(uint64_t staticHash, uint64_t dynamicHash, uint64_t recordedNs) {
  const std::lock_guard lock(mutex_);
  for (auto& [hash, graph] : graphs_)
    for (KeptNode& node : graph.nodes)
      if (node.staticHash == staticHash && node.dynamicHash == dynamicHash)
        node.recordedNs = recordedNs;
}

std::map<uint64_t, KeptGraph> KeptGraphs::all() const {
  const std::lock_guard lock(mutex_);
  return graphs_;
}

} // namespace mneme::record
