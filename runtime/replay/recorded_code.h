// Room replay: a recorded launch as the compiler sees it. Needs no device, so that processes
// without one compile what a replay will ask for: the requests are the same, and so is their place
// in the compile cache.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

/// The instance with this id, or the only one if `recordId` is empty.
/// \throws Error{NotFound, InvalidArgument} naming the instances there are.
const artifact::Instance& chooseInstance(const artifact::KernelRecord& record,
                                         const std::string& recordId);

/// All IR modules of a record. \throws Error{NotFound, ArtifactCorrupt}
std::vector<std::vector<std::byte>> readModules(const artifact::KernelRecord& record,
                                                const std::filesystem::path& path);

/// Record and modules, read once; values and places of globals when they are first needed.
/// Thread-safe.
class RecordedCode {
public:
  /// `recordId` empty: no launch in particular, so that nothing of one can be fixed.
  /// \throws Error{NotFound, ArtifactCorrupt}
  RecordedCode(const std::filesystem::path& record, const std::string& recordId);

  /// Without IR there is nothing to compile.
  bool hasIr() const noexcept { return record_.codeForm.empty(); }

  /// What Session::run() asks the compiler for on a device with this code target.
  /// \throws Error{InvalidArgument} as makeRequest(), or when argument values are to be fixed and
  /// no launch is known; Error{NotFound, ArtifactCorrupt} for the snapshot that holds them.
  compile::Request request(const CodeTarget& target, const Configuration& configuration,
                           const Options& options);

  /// Returns the machine code that a replay on a GPU of this target ("sm_90") runs of recorded PTX.
  /// Needs no GPU. \throws Error{Unsupported, BackendUnavailable} as recordedBuild()
  std::vector<std::byte> assembled(const std::string& target,
                                   const Configuration& configuration) const;

  /// Returns code that no LLVM compiles, as people read it. \throws as describedCode();
  /// Error{Unsupported} if the configuration asks for code of IR
  compile::Result described(const std::string& target, const Configuration& configuration,
                            bool assembles) const;

  /// The code target of a device of this kind ("sm_90", "cpu") that has every global at its
  /// recorded address; without a launch, no global has a place. \throws Error{NotFound,
  /// ArtifactCorrupt}
  CodeTarget recordedTarget(const std::string& name);

private:
  std::filesystem::path path_;
  artifact::KernelRecord record_;
  std::optional<artifact::Instance> instance_;
  std::vector<std::vector<std::byte>> modules_;
  std::mutex mutex_; ///< of what follows
  std::optional<std::vector<std::vector<std::byte>>> values_;
};

} // namespace mneme::replay
