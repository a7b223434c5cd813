// Room compile: processes that want the same image at the same time compile it once. Holds no LLVM.
#pragma once

#include <filesystem>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/hash.h"

namespace mneme::compile {

/// The right to compile what `key` stands for, held by one thread of one process on the file
/// `<key>.lock` of the cache directory. Without working locks (some network file systems have none)
/// everybody gets it at once, and each compiles for itself.
class CompileTurn {
public:
  /// Waits for whoever holds it, for at most `timeoutSeconds` (0: no limit); then goes on without.
  CompileTurn(const std::filesystem::path& directory, const Hash128& key, double timeoutSeconds);
  ~CompileTurn();
  CompileTurn(const CompileTurn&) = delete;
  CompileTurn& operator=(const CompileTurn&) = delete;

  /// \throws the error with which the compilation waited for has failed, if it did.
  void throwIfFailedMeanwhile() const;
  /// Tells those who wait now why they need not try.
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
