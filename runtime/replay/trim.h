// Room replay: finds out what a recorded launch does not need, and writes it without that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/replay/replay.h"
#include "runtime/replay/trial_memory.h"
#include "runtime/replay/trimmed_instance.h"

namespace mneme::replay {

/// The launch that all trials are compared with.
struct TrimReference {
  std::string refusal;       ///< why there is none, in a sentence; empty otherwise
  uint64_t changedBytes = 0; ///< in whole chunks
};

struct TrimTrial {
  std::string difference; ///< where the result differs, or how the launch failed; empty: the same
  bool isDeviceUsable = true; ///< false: this process can do nothing more with the device
};

/// Trials with one session, which can do nothing else afterwards: each launches the code that was
/// recorded, with the program's own options, and compares what it leaves. One host thread.
class Trim {
public:
  /// `session` must outlive it. \throws Error as Session::build()
  Trim(Session& session, const Configuration& configuration, double timeoutSeconds);
  ~Trim();
  Trim(const Trim&) = delete;
  Trim& operator=(const Trim&) = delete;

  /// Launches this grid on recorded memory, in both orders of blocks. A grid other than that of
  /// `configuration` is refused unless all it leaves is a part of what the recorded launch left.
  /// \throws Error{DeviceFailed} if the kernel fails with the recorded grid
  TrimReference takeReference(const artifact::Dim3& grid);

  /// Launches once with other content in places. `noted`: Small or Large, to note what is written
  /// where that is the pattern.
  TrimTrial trial(std::span<const Fill> fills, std::optional<Pattern> noted = {});

  /// Whether the trials noted last for Small and for Large wrote the same bytes, so that these do
  /// not depend on what was there.
  bool doNotesAgree() const;

  /// Whole chunks that were filled in the trials noted for Small and for Large and not written, as
  /// ranges of recorded addresses. \throws Error{DeviceFailed} as write()
  std::vector<artifact::ByteRange> untouched() const;

  /// Bytes that were filled in these trials and not written. \throws Error{DeviceFailed} as write()
  uint64_t untouchedBytes() const;

  /// Writes a recording of the reference launch, after trials of all of `order.unread` with Small
  /// and with Large. \throws Error{DeviceFailed} if these two disagree; Error{IoFailed}
  void write(const std::filesystem::path& directory, const TrimOrder& order);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mneme::replay
