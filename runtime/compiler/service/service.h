// Room compiler: compiling for production runs. The compiler runs in a process of its own
// (`mneme-jit-compile`, next to the library), so that LLVM is never loaded into an application, and
// a crash or hang costs one kernel only. Needs no LLVM.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/compiler/service/levels.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {

/// A failure that concerns this process rather than a kernel: there is no compiler, or it died or
/// took too long.
class ProcessError : public Error {
public:
  using Error::Error;
};

struct ServiceOptions {
  /// Directory for images; empty: none are stored. Made if missing (mode 0700). A directory that
  /// belongs to another user or that others can write to is not used, with one warning.
  std::filesystem::path cacheDirectory;
  /// The least recently used images are deleted if there are more bytes than this. 0: no limit.
  uint64_t cacheBytes = uint64_t{1} << 30;
  std::vector<CacheLevel> levels = {CacheLevel{}}; ///< fastest first
  double timeoutSeconds = 300;                     ///< for one compilation; 0: no limit
};

/// Returns the stored image, or compiles and stores a new one. Uses descriptors and signals of its
/// own (own_descriptors.h), so the application may change its own meanwhile. Processes that want
/// the same image at the same time share one compilation: they wait for the process that began it,
/// for no longer than the timeout. The environment of the compiler process has no LD_PRELOAD, and
/// nothing it prints reaches the application. Problems with the directory are not errors.
/// Thread-safe.
/// \throws Error with the compiler's own code and sentence; ProcessError{CompileFailed} when the
/// compiler died (naming the signal) or took too long; ProcessError{NotFound} when it is not
/// installed; ProcessError if it cannot be started.
Result compileApart(const Request& request, const ServiceOptions& options);

/// For replays: compiles here as compileCached() does, or compile() without `useCache`. A request
/// with pass plugins is compiled in a process of its own, whatever else this process does: plugins
/// may crash or never end, and a file that has changed cannot be loaded in place of the first one.
/// Such a compilation may take MNEME_COMPILE_TIMEOUT seconds, 60 if that is not set.
/// What plugins print goes to stderr: stdout is for results.
/// \throws as compile() and compileApart()
Result compileForReplay(const Request& request, bool useCache);

/// Writes what plugins printed to stderr.
void showPrinted(const Result& result) noexcept;

/// Checks a pipeline and options of LLVM; with pass plugins or another compiler in a process of its
/// own, as compileForReplay(). \throws Error{InvalidArgument} naming the offending pass or option,
/// and as compileForReplay()
void checkPassesOf(const std::vector<PassPlugin>& plugins, const std::string& passes,
                   const std::string& llvmOptions, const std::string& compiler);

/// Returns only a stored image. Never starts a process.
bool findStored(const Request& request, const ServiceOptions& options, Result& result);

} // namespace mneme::compile
