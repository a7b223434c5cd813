// Room compiler: makes processes that want the same image at the same time compile it once. Needs
// no LLVM.
#pragma once

#include <filesystem>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/hash.h"

namespace mneme::compile {

/// The right to compile the image of `key`: one thread of one process holds it, by a lock on the
/// file `<key>.lock` of the cache directory. Without working locks (as on some network file
/// systems) all get it at once, and each compiles for itself.
class CompileTurn {
public:
  /// Waits for the turn for at most `timeoutSeconds` (0: no limit), then continues without it.
  CompileTurn(const std::filesystem::path& directory, const Hash128& key, double timeoutSeconds);
  ~CompileTurn();
  CompileTurn(const CompileTurn&) = delete;
  CompileTurn& operator=(const CompileTurn&) = delete;

  /// \throws the error of the compilation that was waited for, if it failed.
  void throwIfFailedMeanwhile() const;
  /// Tells waiting processes why they need not try.
  void noteFailure(const Error& error) noexcept;

private:
  bool wait(double timeoutSeconds);

  std::filesystem::path path_;
  UniqueFd file_;
  bool isHeld_ = false;
  bool hasWaited_ = false;
  bool hasFailed_ = false;
};

} // namespace mneme::compile
