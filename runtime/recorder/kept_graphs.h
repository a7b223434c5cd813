// Room recorder: graphs that are kept as a sequence, which replays as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/recorder/executable_graph.h"

namespace mneme::record {

/// A node of a kept graph. Numbers are places in the sequence.
struct KeptNode {
  std::string kind;          ///< "kernel", "memcpy", ...
  std::vector<size_t> after; ///< the nodes that it waits for
  std::string kernel;        ///< demangled; empty for other nodes, as what follows
  uint64_t staticHash = 0;
  uint64_t dynamicHash = 0; ///< of its recorded instance
  uint64_t recordedNs = 0;  ///< how long that took: tells it from one that is recorded later
};

struct KeptGraph {
  std::vector<KeptNode> nodes; ///< in the order in which they ran
  std::vector<std::string> labels;

  size_t kernelCount() const;
};

/// Returns the nodes that a launch runs, in their order, without what is known of kernels.
std::vector<KeptNode> keptNodes(const std::vector<SequenceNode>& sequence);

/// Returns what a graph is called: a hash of its nodes, of what they wait for, and of the kernels'
/// launches, whose dynamic hashes the nodes must have.
uint64_t graphHash(const std::vector<KeptNode>& nodes);

/// Name of the file of a graph in a recording: "<graph hash>.graph".
std::string graphFileName(uint64_t hash);
/// Writes that file. \throws Error{IoFailed}
void writeGraph(const std::filesystem::path& directory, uint64_t hash, const KeptGraph& graph);

/// The kept graphs of a session, by hash. Thread-safe.
class KeptGraphs {
public:
  /// Whether this launch of a graph is to be kept: the first, or the one after `skipped` others.
  bool isDue(uint64_t hash, uint64_t skipped);
  void keep(uint64_t hash, KeptGraph graph);
  /// Notes how long the launch of a kernel of kept graphs took.
  void setTime(uint64_t staticHash, uint64_t dynamicHash, uint64_t recordedNs);
  std::map<uint64_t, KeptGraph> all() const;

private:
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> launches_;
  std::map<uint64_t, KeptGraph> graphs_;
};

} // namespace mneme::record
