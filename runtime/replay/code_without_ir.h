// Room replay: recordings whose code is an image without IR. It runs as it is: nothing compiles it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/devices/device.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

inline bool hasIr(const artifact::KernelRecord& record) { return record.codeForm.empty(); }

/// \throws Error{Unsupported} if the recorded code is for other devices than this
void checkRunsOn(const artifact::KernelRecord& record, const device::Description& device);

/// \throws Error{Unsupported} if there is no IR, naming what was asked for
void requireIr(const artifact::KernelRecord& record, const std::string& wanted);

/// Returns the recorded image in the form of a build. \throws Error{Unsupported} if the
/// configuration asks for other code
compile::Result recordedBuild(const artifact::KernelRecord& record,
                              const std::vector<std::byte>& image,
                              const Configuration& configuration, const Options& options);

} // namespace mneme::replay
