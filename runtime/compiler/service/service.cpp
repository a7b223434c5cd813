#include "runtime/compiler/service/service.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <unistd.h>

#include "runtime/compiler/assembler/tools.h"
#include "runtime/compiler/service/compiler_process.h"
#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/library_identity.h"
#include "runtime/compiler/service/messages.h"
#include "runtime/compiler/service/other_compiler.h"
#include "runtime/compiler/service/pass_plugin_files.h"
#include "runtime/compiler/service/source.h"
#include "runtime/compiler/service/turn.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::compile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSignalBase = 128; // of Reply::exitCode
constexpr const char* kTimeoutVariable = "MNEME_COMPILE_TIMEOUT";
constexpr double kReplayTimeoutSeconds = 60;

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
  const std::string what = request.wantCheck
                               ? "the compiler process "
                               : "the compiler process for kernel '" + request.kernel + "' ";
  const std::string plugins =
      request.plugins.empty() ? "" : "; it ran the pass plugin " + namesOf(request.plugins);
  if (!ended.messages.empty())
    log(LogLevel::Info, what + "wrote: " + ended.messages);
  if (ended.isTimedOut)
    throw ProcessError(ErrorCode::CompileFailed, what + "was ended after " +
                                                     std::to_string(std::lround(timeoutSeconds)) +
                                                     " seconds" + plugins);
  if (ended.exitCode > kSignalBase) {
    const int signal = ended.exitCode - kSignalBase;
    const char* name = strsignal(signal);
    throw ProcessError(ErrorCode::CompileFailed, what + "died of signal " + std::to_string(signal) +
                                                     " (" + (name ? name : "unknown") + ")" +
                                                     plugins);
  }
  throw ProcessError(ErrorCode::CompileFailed, what + "ended without an answer" + plugins);
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

std::string libraryFor(const Request& request) {
  return request.compiler.empty() ? compileLibraryPath() : compilerPathIn(request.compiler);
}

/// A process keeps the first plugins it has loaded: others get one of their own.
std::string textOf(const std::vector<PassPlugin>& plugins) {
  std::string text;
  for (const PassPlugin& plugin : plugins)
    text += ' ' + plugin.path + '@' + toHex(plugin.contentHash);
  return text;
}

Result compileInProcess(const Request& request, const ServiceOptions& options,
                        const std::string& library, const std::string& identity) {
  const std::string program = compileProgramPath();
  if (program.empty())
    throw ProcessError(ErrorCode::NotFound,
                       "the program 'mneme-jit-compile' is not installed beside '" + library +
                           "'; set MNEME_COMPILE_PROGRAM to its path");
  checkUnchanged(request.plugins);
  const auto start = Clock::now();
  bool diedOnce = false;
  Reply reply = ask({program, argumentsFor(request, library), identity + textOf(request.plugins)},
                    packRequest(request), options.timeoutSeconds, diedOnce);
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
  const std::string library = libraryFor(request);
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
      levels.isEmpty() ? std::string() : compilerIdentity(libraryFor(request));
  return identity.empty() ? std::nullopt : upToDate(levels, cacheKey(request, identity));
}

double replayTimeout() {
  const char* text = environmentValue(kTimeoutVariable);
  if (!text || !*text)
    return kReplayTimeoutSeconds;
  char* end = nullptr;
  const double seconds = strtod(text, &end);
  if (*end == '\0' && seconds > 0 && std::isfinite(seconds))
    return seconds;
  noticeOnce(std::string(kTimeoutVariable) + " is '" + text +
             "', which is not a number of seconds; 60 is used");
  return kReplayTimeoutSeconds;
}

} // namespace

Result compileApart(const Request& request, const ServiceOptions& options) {
  return apart([&] { return storedOrCompiled(request, options); });
}

Result compileForReplay(const Request& request, bool useCache) {
  if (request.plugins.empty() && request.compiler.empty())
    return useCache ? compileCached(request) : compile(request);
  ServiceOptions options{.cacheDirectory = {}, .cacheBytes = cacheBytesLimit()};
  options.timeoutSeconds = replayTimeout();
  if (useCache)
    options.cacheDirectory = cacheDirectory().value_or("");
  Result result = compileApart(request, options);
  showPrinted(result);
  return result;
}

void showPrinted(const Result& result) noexcept {
  for (const std::string* text : {&result.printed, &result.warnings})
    fwrite(text->data(), 1, text->size(), stderr);
  fflush(stderr);
}

void checkPassesOf(const std::vector<PassPlugin>& plugins, const std::string& passes,
                   const std::string& llvmOptions, const std::string& compiler) {
  Request request;
  request.modules.emplace_back();
  request.passes = passes;
  request.plugins = plugins;
  request.llvmOptions = llvmOptions;
  request.compiler = compiler;
  request.wantCheck = true;
  compileForReplay(request, /*useCache=*/false);
}

bool findStored(const Request& request, const ServiceOptions& options, Result& result) {
  auto found = apart([&] { return stored(request, options); });
  if (!found)
    return false;
  result = std::move(*found);
  return true;
}

} // namespace mneme::compile
