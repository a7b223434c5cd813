#include "runtime/compiler/service/service.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <unistd.h>

#include "runtime/compiler/assembler/tools.h"
#include "runtime/compiler/service/compiler_process.h"
#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/library_identity.h"
#include "runtime/compiler/service/messages.h"
#include "runtime/compiler/service/source.h"
#include "runtime/compiler/service/turn.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::compile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSignalBase = 128; // of Reply::exitCode

/// The program's command line: the library and the assembler this process has found and made keys
/// of, since the program would look from another place; and this process, with which it ends.
std::vector<std::string> argumentsFor(const Request& request, const std::string& library) {
  std::string assembler = "none";
  std::string path;
  if (request.target.rfind("cpu", 0) != 0 && request.target != "host" &&
      request.target != kSourceTarget) {
    const AssemblerTool tool = findAssembler();
    assembler = tool.kind == AssemblerKind::Ptxas       ? "ptxas"
                : tool.kind == AssemblerKind::NvJitLink ? "nvjitlink"
                                                        : "driver";
    path = tool.path;
  }
  return {std::to_string(getpid()), library, assembler, path};
}

[[noreturn]] void throwDied(const Request& request, const Reply& ended, double timeoutSeconds) {
  const std::string what = "the compiler process for kernel '" + request.kernel + "' ";
  if (!ended.messages.empty())
    log(LogLevel::Info, what + "wrote: " + ended.messages);
  if (ended.isTimedOut)
    throw ProcessError(ErrorCode::CompileFailed, what + "was ended after " +
                                                     std::to_string(std::lround(timeoutSeconds)) +
                                                     " seconds");
  if (ended.exitCode > kSignalBase) {
    const int signal = ended.exitCode - kSignalBase;
    const char* name = strsignal(signal);
    throw ProcessError(ErrorCode::CompileFailed, what + "died of signal " + std::to_string(signal) +
                                                     " (" + (name ? name : "unknown") + ")");
  }
  throw ProcessError(ErrorCode::CompileFailed, what + "ended without an answer");
}

double milliseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Tells people who look where the time goes.
void logTimes(const Request& request, const Reply& reply, double total) {
  if (logLevel() > LogLevel::Debug)
    return;
  char text[96];
  std::snprintf(text, sizeof(text), "in %.3f ms, of which a process start %.3f ms: ", total,
                reply.startSeconds * 1e3);
  log(LogLevel::Debug,
      "compiled kernel '" + request.kernel + "' " + text + reply.answer->result.statisticsJson);
}

Reply ask(const CompilerCommand& command, const std::string& request, double timeoutSeconds,
          bool& diedOnce) {
  try {
    return askCompiler(command, request, timeoutSeconds, diedOnce);
  } catch (const Error& error) {
    throw ProcessError(error.code(), error.what());
  }
}

Result compileInProcess(const Request& request, const ServiceOptions& options,
                        const std::string& library, const std::string& identity) {
  const std::string program = compileProgramPath();
  if (program.empty())
    throw ProcessError(ErrorCode::NotFound,
                       "the program 'mneme-jit-compile' is not installed beside '" + library +
                           "'; set MNEME_COMPILE_PROGRAM to its path");
  const auto start = Clock::now();
  bool diedOnce = false;
  Reply reply = ask({program, argumentsFor(request, library), identity}, packRequest(request),
                    options.timeoutSeconds, diedOnce);
  if (!reply.answer)
    throwDied(request, reply, options.timeoutSeconds);
  if (reply.answer->code != ErrorCode::Ok)
    throw Error(reply.answer->code, reply.answer->message);
  logTimes(request, reply, milliseconds(start));
  if (diedOnce)
    noticeOnce("the compiler process died while it compiled kernel '" + request.kernel +
               "'; a new one has compiled it");
  return std::move(reply.answer->result);
}

std::optional<Result> upToDate(const CacheLevels& levels, const Hash128& key) {
  std::optional<Result> stored = levels.load(key);
  return stored && isUpToDate(*stored) ? std::move(stored) : std::nullopt;
}

Result storedOrCompiled(const Request& request, const ServiceOptions& options) {
  const std::string library = compileLibraryPath();
  const std::string identity = compilerIdentity(library);
  if (identity.empty())
    throw ProcessError(ErrorCode::NotFound,
                       "the kernel compiler '" + library +
                           "' is not installed or cannot be read; set "
                           "MNEME_COMPILE_LIBRARY to the path of libmneme_compile.so");
  const CacheLevels levels(options.levels, options.cacheDirectory, options.cacheBytes,
                           request.cacheName);
  if (levels.isEmpty())
    return compileInProcess(request, options, library, identity);
  const Hash128 key = cacheKey(request, identity);
  if (auto stored = upToDate(levels, key))
    return std::move(*stored);
  std::optional<CompileTurn> turn;
  if (!levels.directory().empty())
    turn.emplace(levels.directory(), key, options.timeoutSeconds);
  if (auto stored = upToDate(levels, key))
    return std::move(*stored);
  if (turn)
    turn->throwIfFailedMeanwhile();
  try {
    Result result = compileInProcess(request, options, library, identity);
    levels.store(key, result);
    return result;
  } catch (const Error& error) {
    if (turn)
      turn->noteFailure(error);
    throw;
  }
}

std::optional<Result> stored(const Request& request, const ServiceOptions& options) {
  const CacheLevels levels(options.levels, options.cacheDirectory, options.cacheBytes,
                           request.cacheName);
  const std::string identity =
      levels.isEmpty() ? std::string() : compilerIdentity(compileLibraryPath());
  return identity.empty() ? std::nullopt : upToDate(levels, cacheKey(request, identity));
}

} // namespace

Result compileApart(const Request& request, const ServiceOptions& options) {
  return apart([&] { return storedOrCompiled(request, options); });
}

bool findStored(const Request& request, const ServiceOptions& options, Result& result) {
  auto found = apart([&] { return stored(request, options); });
  if (!found)
    return false;
  result = std::move(*found);
  return true;
}

} // namespace mneme::compile
