#include "runtime/core/preloaded/inherited.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

namespace mneme::preloaded {
namespace {

constexpr char kVariable[] = "LD_PRELOAD=";
constexpr size_t kVariableLength = sizeof(kVariable) - 1;
constexpr char kSeparators[] = ": "; // the loader's

/// The folder this library was loaded from, with a slash at its end; the others of ours lie there.
char ownFolder[PATH_MAX];

bool startsWith(const char* text, const char* beginning) noexcept {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

/// Whether a name in LD_PRELOAD is a library of ours.
bool isOurs(const char* name, size_t length) noexcept {
  const size_t folder = std::strlen(ownFolder);
  if (folder == 0 || length <= folder || std::strncmp(name, ownFolder, folder) != 0)
    return false;
  const char* const file = name + folder;
  return startsWith(file, "libmneme_") || startsWith(file, "librecord.so");
}

/// Whether the loader can open it here.
bool isReadable(const char* name, size_t length) noexcept {
  char path[PATH_MAX];
  if (length >= sizeof(path))
    return true;
  std::memcpy(path, name, length);
  path[length] = '\0';
  const int error = errno;
  const bool is = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
  errno = error;
  return is;
}

/// Copies what can be loaded of a value of LD_PRELOAD to `kept`, which has room for all of it, or
/// nowhere if that is null. Returns whether something was left out.
bool keepReadable(const char* value, char* kept) noexcept {
  bool isChanged = false;
  char* end = kept;
  for (const char* at = value; *at;) {
    const size_t length = std::strcspn(at, kSeparators);
    if (length > 0 && isOurs(at, length) && !isReadable(at, length)) {
      isChanged = true;
    } else if (length > 0 && kept) {
      if (end != kept)
        *end++ = ':';
      std::memcpy(end, at, length);
      end += length;
    }
    at += length;
    at += std::strspn(at, kSeparators);
  }
  if (kept)
    *end = '\0';
  return isChanged;
}

const char* preloadOf(const char* variable) noexcept {
  return startsWith(variable, kVariable) ? variable + kVariableLength : nullptr;
}

[[gnu::constructor(102)]] void rememberOwnFolder() {
  Dl_info own{};
  if (!dladdr(reinterpret_cast<void*>(&keepReadable), &own) || !own.dli_fname)
    return;
  const char* const slash = std::strrchr(own.dli_fname, '/');
  const size_t length = slash ? slash + 1 - own.dli_fname : 0;
  if (length > 0 && length < sizeof(ownFolder))
    std::memcpy(ownFolder, own.dli_fname, length);
}

} // namespace

size_t bytesWithoutUnreachable(char* const* environment) noexcept {
  size_t count = 0, text = 0;
  bool isChanged = false;
  for (; environment && environment[count]; ++count)
    if (const char* value = preloadOf(environment[count])) {
      isChanged |= keepReadable(value, nullptr);
      text += std::strlen(environment[count]) + 1;
    }
  return isChanged ? (count + 1) * sizeof(char*) + text : 0;
}

char* const* withoutUnreachable(char* const* environment, void* memory, size_t bytes) noexcept {
  auto** const variables = static_cast<char**>(memory);
  char* text = static_cast<char*>(memory) + bytes; // from the end down
  char** next = variables;
  for (; *environment; ++environment) {
    // Another thread may have changed what was counted: what has no room is left out.
    const char* const value = preloadOf(*environment);
    const size_t length = value ? std::strlen(*environment) + 1 : 0;
    if (reinterpret_cast<char*>(next + 2) + length > text)
      break;
    *next = *environment;
    if (value) {
      text -= length;
      std::memcpy(text, kVariable, kVariableLength);
      keepReadable(value, text + kVariableLength);
      if (!text[kVariableLength])
        continue;
      *next = text;
    }
    ++next;
  }
  *next = nullptr;
  return variables;
}

void adjustOwnEnvironment() noexcept {
  static std::mutex mutex;
  static std::string whole, adjusted; // what the variable was, and what it was made
  // A fork may have left it taken.
  const std::unique_lock lock(mutex, std::try_to_lock);
  const char* value = nullptr;
  for (char* const* variable = environ; variable && *variable && !value; ++variable)
    value = preloadOf(*variable);
  if (!lock || !value)
    return;
  const int error = errno;
  try {
    const bool isOurValue = !whole.empty() && value == adjusted;
    const std::string wanted = isOurValue ? whole : value;
    std::string kept(wanted.size() + 1, '\0');
    keepReadable(wanted.c_str(), kept.data());
    kept.resize(std::strlen(kept.c_str()));
    const bool isWhole = !keepReadable(wanted.c_str(), nullptr);
    if (const std::string& now = isWhole ? wanted : kept; now != value) {
      whole = wanted;
      adjusted = kept;
      setenv("LD_PRELOAD", now.c_str(), 1); // never unset: others may be reading the variables
    }
  } catch (...) { // without memory it stays as it is
  }
  errno = error;
}

} // namespace mneme::preloaded
