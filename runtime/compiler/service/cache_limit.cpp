#include "runtime/compiler/service/cache_limit.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/compiler/service/cache_files.h"
#include "runtime/core/base/file.h"

namespace mneme::compile {
namespace {

constexpr time_t kSecondsBetweenNotes = 60;
// No compilation takes so long; a file of one that still goes on would be made again.
constexpr time_t kLeftoverSeconds = 3600;
constexpr unsigned kStoresBetweenLooks = 64;
constexpr unsigned kTurnAttempts = 20;
constexpr std::chrono::milliseconds kBetweenAttempts{5};

struct Entry {
  std::filesystem::path path;
  timespec used;
  uint64_t bytes;
};

/// What this process believes about a directory.
struct Belief {
  uint64_t bytes = 0;
  unsigned storesLeft = 0; ///< before it looks again
};

bool isLeftover(const std::filesystem::path& file, CacheFile kind, const struct stat& status) {
  return (kind == CacheFile::Temporary || kind == CacheFile::Lock) &&
         status.st_mtim.tv_sec + kLeftoverSeconds < time(nullptr) && isOwn(file, kind);
}

bool wasUsedEarlier(const Entry& first, const Entry& second) {
  return std::pair(first.used.tv_sec, first.used.tv_nsec) <
         std::pair(second.used.tv_sec, second.used.tv_nsec);
}

/// The entries of a directory; leftovers are deleted on the way.
std::vector<Entry> entriesOf(const std::filesystem::path& directory) {
  std::vector<Entry> entries;
  std::error_code failed;
  for (std::filesystem::directory_iterator file(directory, failed), end; !failed && file != end;
       file.increment(failed)) {
    const std::filesystem::path path = file->path();
    const CacheFile kind = kindOf(path.filename().native());
    struct stat status = {};
    if (kind == CacheFile::Foreign || lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      continue;
    if (kind == CacheFile::Entry)
      entries.push_back({path, status.st_mtim, static_cast<uint64_t>(status.st_size)});
    else if (isLeftover(path, kind, status))
      unlink(path.c_str());
  }
  return entries;
}

/// Returns how many bytes are left.
uint64_t deleteOldest(std::vector<Entry> entries, uint64_t maxBytes) {
  uint64_t bytes = 0;
  for (const Entry& entry : entries)
    bytes += entry.bytes;
  if (bytes <= maxBytes)
    return bytes;
  std::sort(entries.begin(), entries.end(), wasUsedEarlier);
  for (const Entry& entry : entries) {
    if (bytes <= maxBytes)
      break;
    // What only has the name of an entry stays, and does not count.
    if (!isOwn(entry.path, CacheFile::Entry) || unlink(entry.path.c_str()) == 0 || errno == ENOENT)
      bytes -= entry.bytes;
  }
  return bytes;
}

/// True when this process shall look now, which `belief` then takes for granted.
bool isTimeToLook(Belief& belief, uint64_t maxBytes, uint64_t addedBytes) {
  belief.bytes += addedBytes;
  if (belief.storesLeft > 0 && belief.bytes <= maxBytes) {
    --belief.storesLeft;
    return false;
  }
  belief.storesLeft = kStoresBetweenLooks;
  return true;
}

/// Takes the lock of the directory, after a short wait if needed: its owner may have looked before
/// our store. Returns false if the lock stays taken, and true where locks do not work.
bool takeTurn(int directory) {
  for (unsigned attempt = 0; attempt < kTurnAttempts; ++attempt) {
    if (flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
      return true;
    std::this_thread::sleep_for(kBetweenAttempts);
  }
  return false;
}

void limitOrThrow(const std::filesystem::path& directory, uint64_t maxBytes, uint64_t addedBytes) {
  static std::mutex mutex;
  static auto& beliefs = *new std::map<std::string, Belief>; // static destructors may compile
  const std::lock_guard lock(mutex);
  Belief& belief = beliefs[directory.string()];
  if (!isTimeToLook(belief, maxBytes, addedBytes))
    return;
  const UniqueFd turn(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!turn || !takeTurn(turn.get())) {
    belief.storesLeft = 0;
    return;
  }
  belief.bytes = deleteOldest(entriesOf(directory), maxBytes);
  flock(turn.get(), LOCK_UN); // processes forked meanwhile hold the descriptor too
}

} // namespace

void noteUse(const std::filesystem::path& entry) noexcept {
  struct stat status = {};
  if (stat(entry.c_str(), &status) == 0 &&
      status.st_mtim.tv_sec + kSecondsBetweenNotes < time(nullptr))
    utimensat(AT_FDCWD, entry.c_str(), nullptr, 0);
}

void limitCache(const std::filesystem::path& directory, uint64_t maxBytes,
                uint64_t addedBytes) noexcept {
  if (maxBytes == 0)
    return;
  try {
    limitOrThrow(directory, maxBytes, addedBytes);
  } catch (const std::exception&) { // out of memory: another store will look
  }
}

} // namespace mneme::compile
