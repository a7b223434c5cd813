#include "runtime/compiler/service/cache_files.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/base/file.h"

namespace mneme::compile {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeyDigits = 32;
constexpr const char* kOwnDirectory = "mneme-cache";
constexpr std::string_view kTemporary = ".tmp-";
// What network file systems make of files that are deleted while open.
constexpr std::string_view kStillOpen = ".nfs";
// Reading names takes about a microsecond each; a tuned run should start within milliseconds.
constexpr size_t kNamesLookedAt = 4096;
constexpr size_t kHeadBytes = 64;

bool isHexDigit(char one) noexcept {
  return (one >= '0' && one <= '9') || (one >= 'a' && one <= 'f');
}

bool isDigit(char one) noexcept { return one >= '0' && one <= '9'; }

/// "12-345-0": the numbers temporaryName() appends, in the form of any release.
bool isNumberList(std::string_view text) noexcept {
  return !text.empty() && isDigit(text.front()) && isDigit(text.back()) &&
         text.find("--") == std::string_view::npos &&
         std::ranges::all_of(text, [](char one) { return isDigit(one) || one == '-'; });
}

/// A lock holds the note of a failure, "<code> <sentence>", or nothing.
bool isNote(std::string_view head) noexcept {
  const size_t digits = std::min(head.find_first_not_of("0123456789"), head.size());
  return head.empty() || (digits > 0 && digits <= 3 && digits < head.size() && head[digits] == ' ');
}

constexpr std::string_view kNamed = "cache-jit-";

bool isEntryHead(std::string_view head, std::string_view name) noexcept {
  EntryHeader header;
  if (head.size() < sizeof header)
    return false;
  std::memcpy(&header, head.data(), sizeof header);
  return std::memcmp(header.magic, kEntryMagic, sizeof kEntryMagic) == 0 &&
         (isNamedEntry(name) || name.starts_with(toHex(Hash128{header.keyLow, header.keyHigh})));
}

/// A killed process may have come no further than any byte.
bool isStartOfEntry(std::string_view head) noexcept {
  const std::string_view magic(kEntryMagic, sizeof kEntryMagic);
  return head.starts_with(magic.substr(0, std::min(head.size(), magic.size())));
}

bool holdsOthersThings(const fs::path& directory) {
  std::error_code failed;
  size_t count = 0;
  for (fs::directory_iterator file(directory, failed), end;
       !failed && file != end && count < kNamesLookedAt; file.increment(failed), ++count) {
    const std::string name = file->path().filename().string();
    if (kindOf(name) == CacheFile::Foreign && !name.starts_with(kStillOpen))
      return true;
  }
  return false;
}

} // namespace

bool isNamedEntry(std::string_view name) noexcept {
  const size_t rankDigits = std::min(name.find_first_not_of("0123456789"), name.size());
  name.remove_prefix(rankDigits);
  if (rankDigits > 0 && !name.starts_with('-'))
    return false;
  name.remove_prefix(rankDigits > 0 ? 1 : 0);
  if (!name.starts_with(kNamed))
    return false;
  name.remove_prefix(kNamed.size());
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  name.remove_prefix(digits);
  return digits > 0 && (name == ".o" || name == ".so");
}

std::string_view nameForAllRanks(std::string_view name) noexcept {
  return name.substr(std::min(name.find(kNamed), name.size()));
}

CacheFile kindOf(std::string_view name) noexcept {
  if (isNamedEntry(name))
    return CacheFile::Entry;
  if (const size_t at = name.rfind(kTemporary); at != std::string_view::npos)
    if (isNamedEntry(name.substr(0, at)) && isNumberList(name.substr(at + kTemporary.size())))
      return CacheFile::Temporary;
  if (name.size() <= kKeyDigits || !std::ranges::all_of(name.substr(0, kKeyDigits), isHexDigit))
    return CacheFile::Foreign;
  std::string_view rest = name.substr(kKeyDigits);
  if (rest == kLockSuffix)
    return CacheFile::Lock;
  if (!rest.starts_with(kEntrySuffix))
    return CacheFile::Foreign;
  rest.remove_prefix(kEntrySuffix.size());
  if (rest.empty())
    return CacheFile::Entry;
  return rest.starts_with(kTemporary) && isNumberList(rest.substr(kTemporary.size()))
             ? CacheFile::Temporary
             : CacheFile::Foreign;
}

bool isOwn(const fs::path& file, CacheFile kind) noexcept {
  struct stat status = {};
  if (kind == CacheFile::Foreign || lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return false;
  const UniqueFd opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::array<char, kHeadBytes> bytes;
  const ssize_t count = opened ? read(opened.get(), bytes.data(), bytes.size()) : -1;
  if (count < 0)
    return false;
  const std::string_view head(bytes.data(), static_cast<size_t>(count));
  if (kind == CacheFile::Lock)
    return isNote(head);
  if (kind == CacheFile::Temporary)
    return isStartOfEntry(head);
  const std::string_view path = file.native();
  return isEntryHead(head, path.substr(path.rfind('/') + 1));
}

fs::path cachePlaceIn(const fs::path& directory) {
  static std::mutex mutex;
  // The key has the file's number too, since programs change their directory. The map is never
  // destroyed, because static destructors may ask.
  static auto& hasOwnDirectory = *new std::map<std::tuple<std::string, dev_t, ino_t>, bool>;
  const fs::path own = directory / kOwnDirectory;
  struct stat status = {};
  if (stat(directory.c_str(), &status) != 0)
    return directory;
  const std::lock_guard lock(mutex);
  const auto [known, isNew] =
      hasOwnDirectory.try_emplace({directory.string(), status.st_dev, status.st_ino}, false);
  if (isNew)
    known->second = (lstat(own.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) ||
                    holdsOthersThings(directory);
  return known->second ? own : directory;
}

void adoptEntries(const fs::path& directory, const fs::path& place) noexcept {
  try {
    std::error_code failed;
    for (fs::directory_iterator file(directory, failed), end; !failed && file != end;
         file.increment(failed)) {
      const fs::path name = file->path().filename();
      if (kindOf(name.native()) == CacheFile::Entry && isOwn(file->path(), CacheFile::Entry))
        rename(file->path().c_str(), (place / name).c_str()); // who fails compiles again
    }
  } catch (const std::exception&) { // no memory: they stay where they are
  }
}

} // namespace mneme::compile
