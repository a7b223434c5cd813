#include "runtime/core/base/log.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/core/base/start_directory.h"
#include "runtime/core/base/unique_fd.h"
#include "runtime/core/base/write_signals.h"

namespace mneme {
namespace {

LogLevel readLevel() noexcept {
  static constexpr std::array<std::string_view, 7> names = {"trace", "debug",    "info", "warn",
                                                            "error", "critical", "off"};
  const char* text = environmentValue("MNEME_LOG_LEVEL");
  for (size_t index = 0; text && index < names.size(); ++index)
    if (names[index] == text)
      return static_cast<LogLevel>(index);
  return LogLevel::Critical;
}

/// Nothing when lines go to stderr. Opened for each line: a program may close what is open.
UniqueFd openLogFile() {
  const char* directory = environmentValue("MNEME_LOG_DIR");
  if (!directory || !*directory)
    return {};
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const int rank = processRank();
  const std::string path = (startDirectory() / directory).string() + "/mneme-" + host.data() + "-" +
                           std::to_string(rank >= 0 ? rank : static_cast<int>(getpid())) + ".log";
  // Other users can guess the name, so do not follow links or wait for pipes.
  return UniqueFd(open(path.c_str(),
                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
}

void writeLine(int file, const std::string& message) {
  const std::string line = "mneme: " + message + "\n";
  BlockedWriteSignals signals;
  if (write(file, line.data(), line.size()) < 0)
    signals.noteFailure(errno);
}

} // namespace

LogLevel logLevel() noexcept {
  static const LogLevel level = readLevel();
  return level;
}

void log(LogLevel level, const std::string& message) noexcept {
  if (level < logLevel())
    return;
  try {
    const UniqueFd file = openLogFile();
    writeLine(file ? file.get() : standardError(), message);
  } catch (...) { // out of memory: a lost log line must not become an error of the host process
  }
}

void notice(const std::string& message) noexcept {
  try {
    writeLine(standardError(), message);
    if (logLevel() == LogLevel::Off)
      return;
    if (const UniqueFd file = openLogFile())
      writeLine(file.get(), message);
  } catch (...) { // as above
  }
}

void noticeOnce(const std::string& message) noexcept {
  try {
    // Never destroyed: static destructors of the host program may still lead here.
    static auto* mutex = new std::mutex;
    static auto* said = new std::unordered_set<std::string>;
    const std::lock_guard lock(*mutex);
    if (said->insert(message).second)
      notice(message);
  } catch (...) {
  }
}

int processRank() noexcept {
  for (const char* name : {"FLUX_TASK_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MPI_RANK",
                           "SLURM_PROCID", "JSM_NAMESPACE_RANK", "PMIX_RANK", "PBS_TASKNUM"})
    if (const char* text = environmentValue(name); text && *text)
      return std::atoi(text);
  return -1;
}

} // namespace mneme
