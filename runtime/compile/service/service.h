// Room compile: compiling for production runs. The compiler runs in a process of its own
// (`mneme-jit-compile`, next to the library), so that LLVM is never loaded into an application and
// what crashes or hangs there costs one kernel. Holds no LLVM.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/compile/service/client.h"
#include "runtime/compile/service/levels.h"

namespace mneme::compile {

/// What keeps this process from compiling, or may do so: no compiler, or one that died or took too
/// long.
class ProcessError : public Error {
public:
  using Error::Error;
};

struct ServiceOptions {
  /// Where images are kept; empty: nowhere. Made if missing (mode 0700). A directory that belongs
  /// to another user or that others can write to is not used, with one warning.
  std::filesystem::path cacheDirectory;
  /// Images used least recently are deleted when there are more bytes than this. 0: no limit.
  uint64_t cacheBytes = uint64_t{1} << 30;
  std::vector<CacheLevel> levels = {CacheLevel{}}; ///< fastest first
  double timeoutSeconds = 300;                     ///< for one compilation; 0: no limit
};

/// The stored image, else a new one, which is stored. Works on descriptors and with signals of its
/// own (own_descriptors.h), whatever the application does with its meanwhile. Processes that want
/// the same image at the same time share one compilation (they wait for whoever began it; for no
/// longer than the timeout). The environment of the compiler process has no LD_PRELOAD, and nothing
/// it prints reaches the application. Problems with the directory are no errors. Thread-safe.
/// \throws Error with the compiler's own code and sentence; ProcessError{CompileFailed} when the
/// compiler died (naming the signal) or took too long; ProcessError{NotFound} when it is not
/// installed; ProcessError if it cannot be started.
Result compileApart(const Request& request, const ServiceOptions& options);

/// Only a stored image. Never starts anything.
bool findStored(const Request& request, const ServiceOptions& options, Result& result);

} // namespace mneme::compile
