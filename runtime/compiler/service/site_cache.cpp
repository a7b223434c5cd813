#include "runtime/compiler/service/site_cache.h"

#include <atomic>
#include <cerrno>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "runtime/compiler/service/disk_cache.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/log.h"

namespace mneme::compile {
namespace {

/// Files are many, and one problem often has one cause.
void warnOnce(const std::string& message) {
  static std::atomic<bool> isSaid{false};
  if (!isSaid.exchange(true))
    notice(message);
}

bool isTrusted(const struct stat& status) noexcept {
  return (status.st_uid == geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool isUsable(const std::filesystem::path& directory) {
  struct stat status = {};
  std::string why;
  if (stat(directory.c_str(), &status) != 0)
    why = systemMessage("it cannot be read", errno);
  else if (!S_ISDIR(status.st_mode) || !isTrusted(status))
    why = "it must be a directory of this user or of root that nobody else can write to "
          "(chmod go-w)";
  if (!why.empty())
    warnOnce("the site cache '" + directory.string() + "' is not used: " + why);
  return why.empty();
}

std::optional<Result> loadOne(const std::filesystem::path& file, const Hash128& key) {
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0)
    return std::nullopt;
  const std::string entry = "the entry '" + file.string() + "' of a site cache is not used: ";
  if (!isTrusted(status)) {
    warnOnce(entry + "others than this user and root can write to it");
    return std::nullopt;
  }
  try {
    if (auto result = unpackEntry(readFile(file, kMaxEntryBytes), key))
      return result;
    warnOnce(entry + "it is damaged; 'mneme cache verify' lists such entries");
  } catch (const Error& error) {
    warnOnce(entry + error.what());
  }
  return std::nullopt;
}

} // namespace

std::optional<Result> loadFromSite(const std::vector<std::filesystem::path>& directories,
                                   const Hash128& key) {
  for (const std::filesystem::path& directory : directories)
    if (isUsable(directory))
      if (auto result = loadOne(entryPath(directory, key), key))
        return result;
  return std::nullopt;
}

} // namespace mneme::compile
