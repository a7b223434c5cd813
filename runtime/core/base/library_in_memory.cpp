#include "runtime/core/base/library_in_memory.h"

#include <mutex>
#include <string>
#include <unordered_set>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme {
namespace {

/// Handles of live libraries: the loader takes a path it has seen for the library it has loaded.
struct LiveHandles {
  std::mutex mutex;
  std::unordered_set<void*> handles;

  bool add(void* handle) {
    std::lock_guard lock(mutex);
    return handles.insert(handle).second;
  }
  void remove(void* handle) {
    std::lock_guard lock(mutex);
    handles.erase(handle);
  }
};

LiveHandles& liveHandles() {
  static LiveHandles* instance = new LiveHandles;
  return *instance;
}

/// Null when the path cannot be opened or stands for a library that is already loaded.
void* openFresh(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return nullptr;
  if (liveHandles().add(handle))
    return handle;
  dlclose(handle);
  return nullptr;
}

/// Returns a path to a descriptor of this thread, in a spelling that no loaded library of this
/// process has. The loader takes a known path for the library it has loaded, and numbers of
/// descriptors are used again. So the spelling contains the number of the inode, which stays the
/// file's as long as the file is mapped.
std::string freshPath(int file) {
  struct stat status = {};
  fstat(file, &status);
  std::string path = "/proc/thread-self/fd/";
  for (uint64_t bits = status.st_ino; bits != 0; bits >>= 1)
    path += (bits & 1) ? "./" : "/";
  return path + std::to_string(file);
}

void* openFromMemoryFile(std::span<const std::byte> object) {
  const UniqueFd file(memfd_create("mneme-kernel", MFD_CLOEXEC));
  if (!file)
    return nullptr;
  writeAll(file.get(), object, "memory file");
  return openFresh(freshPath(file.get()));
}

void* openFromTemporary(std::span<const std::byte> object) {
  const char* directory = environmentValue("TMPDIR");
  std::string path = std::string(directory && *directory ? directory : "/tmp") + "/mneme-XXXXXX";
  UniqueFd file(mkostemp(path.data(), O_CLOEXEC));
  if (!file)
    return nullptr;
  void* handle = nullptr;
  try {
    writeAll(file.get(), object, path);
    handle = openFresh(path);
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
  unlink(path.c_str());
  return handle;
}

/// Null, with a reason if the loader gave one.
void* openHere(std::span<const std::byte> object, std::string& reason) {
  void* handle = openFromMemoryFile(object);
  if (!handle)
    handle = openFromTemporary(object);
  if (const char* said = handle ? nullptr : dlerror())
    reason = said;
  return handle;
}

} // namespace

void* openLibraryInMemory(std::span<const std::byte> object) {
  void* handle = nullptr;
  std::string reason;
  runApart([&] { handle = openHere(object, reason); });
  if (!handle)
    throw Error(ErrorCode::CompileFailed, reason.empty() ? "the loader gave no reason" : reason);
  return handle;
}

void* openApplicationLibrary(std::span<const std::byte> object) {
  std::string reason;
  void* const handle = openHere(object, reason);
  return handle ? handle : openLibraryInMemory(object);
}

void closeLibraryInMemory(void* handle) noexcept {
  liveHandles().remove(handle);
  dlclose(handle);
}

} // namespace mneme
