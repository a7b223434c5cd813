// Room replay: code as the program's own compiler made it. It runs as it is, or is assembled from
// PTX: no LLVM compiles it.
#pragma once

#include <cstddef>
#include <optional>
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

/// Configuration::llvm of code that no LLVM compiles: as the program ran it, or its PTX.
inline constexpr const char* kAsRecorded = "recorded";
inline constexpr const char* kItsPtx = "ptx";
inline bool isOwnCode(const Configuration& configuration) {
  return configuration.llvm == kAsRecorded || configuration.llvm == kItsPtx;
}

/// Code that a configuration runs without a compiler.
struct OwnCode {
  artifact::KernelRecord record; ///< as if it had no IR
  std::vector<std::byte> image;
};

/// Returns the code of a kernel without IR, or the one that the configuration asks for; nothing if
/// IR is to be compiled. \throws Error{Unsupported} if what it asks for was not recorded
std::optional<OwnCode> ownCode(const artifact::KernelRecord& record,
                               const std::vector<std::vector<std::byte>>& modules,
                               const Configuration& configuration);

/// Returns such code in the form of a build. PTX takes limits and, by ptxas, its options and
/// levels; so does the PTX of a fat binary, in place of its machine code.
/// \throws Error{Unsupported} if the configuration asks for other code, or the device does not run
///         it; Error{BackendUnavailable} without ptxas
compile::Result recordedBuild(OwnCode code, const device::Description& device,
                              const Configuration& configuration, const Options& options);

/// Returns such code as people read it, without a device of this target ("sm_90"): the image is
/// what its driver would load, of a fat binary one member, and the assembly is the PTX that it is
/// made of, if it is PTX.
/// \param assembles  PTX is made into machine code, too, if there is a tool that can make it as the
///                   configuration and the program ask; the statistics say what it uses, as of
///                   recordedBuild()
/// \throws as recordedBuild(); Error{ArtifactCorrupt, Unsupported} for damaged code;
///         Error{NotFound} if the kernel is not in it
compile::Result describedCode(OwnCode code, const std::string& target,
                              const Configuration& configuration, bool assembles);

/// Returns the architecture to compile for on a GPU: with the features of the recorded one if it
/// is the same. \param target  "sm_90"
std::string architectureOn(const std::string& target, const std::string& recorded);

} // namespace mneme::replay
