// Room replay: which launch of a graph is replayed.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/replay/replay.h"

namespace mneme::replay {

/// One kernel of the graph: a recorded launch, and how to compile it.
struct GraphStep {
  std::filesystem::path record;
  std::string recordId;
  Configuration configuration;
};

} // namespace mneme::replay
