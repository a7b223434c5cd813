#include "runtime/base/log.h"

#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include <fcntl.h>
#include <unistd.h>

namespace mneme {
namespace {

LogLevel readLevel() noexcept {
  static constexpr std::array<std::string_view, 7> names = {"trace", "debug",    "info", "warn",
                                                            "error", "critical", "off"};
  const char* text = std::getenv("MNEME_LOG_LEVEL");
  for (size_t index = 0; text && index < names.size(); ++index)
    if (names[index] == text)
      return static_cast<LogLevel>(index);
  return LogLevel::Critical;
}

int openLogFile() noexcept {
  const char* directory = std::getenv("MNEME_LOG_DIR");
  if (!directory || !*directory)
    return STDERR_FILENO;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const int rank = processRank();
  const std::string path = std::string(directory) + "/mneme-" + host.data() + "-" +
                           std::to_string(rank >= 0 ? rank : static_cast<int>(getpid())) + ".log";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  return file >= 0 ? file : STDERR_FILENO;
}

void writeLine(int file, const std::string& message) noexcept {
  try {
    const std::string line = "mneme: " + message + "\n";
    [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  } catch (...) { // out of memory: a lost log line must not become an error of the host process
  }
}

} // namespace

LogLevel logLevel() noexcept {
  static const LogLevel level = readLevel();
  return level;
}

void log(LogLevel level, const std::string& message) noexcept {
  if (level < logLevel())
    return;
  static const int file = openLogFile();
  writeLine(file, message);
}

void notice(const std::string& message) noexcept { writeLine(STDERR_FILENO, message); }

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
    if (const char* text = std::getenv(name); text && *text)
      return std::atoi(text);
  return -1;
}

} // namespace mneme
