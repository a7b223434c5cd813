// Room replay: the kernels of a recorded graph, one after the other on one memory image.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/replay/graph_step.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

/// Restores the memory before the first kernel, runs all of them, and compares with the memory
/// after the last. What other nodes did in between (copies, fills, functions of the host) is done
/// again as the recording shows it: the bytes in which the memory before a kernel differs from that
/// after the kernel before it.
///
/// Result::execNs are times of all kernels together, one after the other. The options that count
/// are iterations, warmup, timeoutSeconds (per kernel), tolerances and useCache. Errors of a
/// configuration, the compiler or a kernel are in the result.
/// \throws Error{InvalidArgument} without steps, Error{NotFound, ArtifactCorrupt,
/// AddressUnavailable, BackendUnavailable}, Error{Unsupported} if the kernels cannot share one
/// image
Result replayGraph(const std::vector<GraphStep>& steps, const std::string& device,
                   const Options& options);
/// The same on a device that the caller has opened.
Result replayGraph(const std::vector<GraphStep>& steps, std::unique_ptr<device::Device> device,
                   const Options& options);

} // namespace mneme::replay
