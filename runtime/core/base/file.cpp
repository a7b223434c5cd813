#include "runtime/core/base/file.h"

#include <atomic>
#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/write_signals.h"

namespace mneme {
namespace {

/// Tells processes apart that have one number: on other hosts, or in other containers.
uint64_t processSalt() {
  static const uint64_t salt = [] {
    uint64_t value = 0;
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value)
      value = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    return value;
  }();
  return salt;
}

const char* fileTypeName(mode_t mode) {
  return S_ISDIR(mode)    ? "a directory"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

} // namespace

UniqueFd openRegularFile(const std::filesystem::path& path) {
  const auto refuse = [&](int error) {
    throw Error(error == ENOENT ? ErrorCode::NotFound : ErrorCode::IoFailed,
                systemMessage("cannot open '" + path.string() + "'", error));
  };
  struct stat status{};
  if (stat(path.c_str(), &status) != 0)
    refuse(errno);
  UniqueFd file;
  if (S_ISREG(status.st_mode)) {
    // Another kind of file may have taken its place by now.
    file = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file || fstat(file.get(), &status) != 0)
      refuse(errno);
  }
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::IoFailed,
                "'" + path.string() + "' is " + fileTypeName(status.st_mode) + ", not a file");
  return file;
}

std::vector<std::byte> readFile(const std::filesystem::path& path, uint64_t maxBytes) {
  const UniqueFd file = openRegularFile(path);
  struct stat status{};
  if (fstat(file.get(), &status) != 0)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot read '" + path.string() + "'", errno));
  if (static_cast<uint64_t>(status.st_size) > maxBytes)
    throw Error(ErrorCode::OutOfRange,
                "'" + path.string() + "' has " + std::to_string(status.st_size) +
                    " bytes, more than the " + std::to_string(maxBytes) + " that are read");
  std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      throw Error(ErrorCode::IoFailed, systemMessage("cannot read '" + path.string() + "'", errno));
    if (count == 0)
      break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

std::string readTextFile(const std::filesystem::path& path, uint64_t maxBytes) {
  const std::vector<std::byte> bytes = readFile(path, maxBytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void writeAll(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  BlockedWriteSignals signals;
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      signals.noteFailure(errno);
    if (count < 0)
      throw Error(ErrorCode::IoFailed,
                  systemMessage("cannot write '" + path.string() + "'", errno));
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

std::filesystem::path temporaryName(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  // The process's number too: forks share the salt.
  return path.string() + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(processSalt()) +
         "-" + std::to_string(counter.fetch_add(1));
}

void writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                         Durability durability) {
  const std::filesystem::path temporary = temporaryName(path);
  try {
    const UniqueFd file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file)
      throw Error(ErrorCode::IoFailed,
                  systemMessage("cannot create '" + temporary.string() + "'", errno));
    writeAll(file.get(), bytes, temporary);
    if (durability == Durability::Synced && fsync(file.get()) != 0)
      throw Error(ErrorCode::IoFailed,
                  systemMessage("cannot sync '" + temporary.string() + "'", errno));
    if (rename(temporary.c_str(), path.c_str()) != 0)
      throw Error(ErrorCode::IoFailed,
                  systemMessage("cannot publish '" + path.string() + "'", errno));
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
}

void writeFileAtomically(const std::filesystem::path& path, const std::string& text) {
  writeFileAtomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

} // namespace mneme
