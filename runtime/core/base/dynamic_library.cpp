#include "runtime/core/base/dynamic_library.h"

#include <filesystem>

#include <dlfcn.h>

#include "runtime/core/base/error.h"

namespace mneme {

void DynamicLibraryTraits::release(Raw raw) noexcept { dlclose(raw); }

DynamicLibrary DynamicLibrary::open(const std::string& nameOrPath) {
  void* raw = dlopen(nameOrPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!raw)
    throw Error(ErrorCode::BackendUnavailable,
                "cannot load '" + nameOrPath + "': " + std::string(dlerror()));
  return DynamicLibrary(raw, nameOrPath);
}

void* DynamicLibrary::symbol(const char* name) const {
  if (void* address = findSymbol(name))
    return address;
  throw Error(ErrorCode::BackendUnavailable,
              "'" + name_ + "' has no symbol '" + std::string(name) + "'");
}

void* DynamicLibrary::findSymbol(const char* name) const noexcept {
  return dlsym(handle_.get(), name);
}

std::string directoryOfCode(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname)
    throw Error(ErrorCode::Internal, "cannot find the file of a loaded library");
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::canonical(info.dli_fname, ignored);
  return (path.empty() ? std::filesystem::path(info.dli_fname) : path).parent_path().string();
}

} // namespace mneme
