#include "runtime/core/loaded/next_symbol.h"

#include <dlfcn.h>

namespace mneme::loaded {

void* nextSymbol(const char* name, std::span<const char* const> libraries) noexcept {
  if (void* next = dlsym(RTLD_NEXT, name))
    return next;
  void* address = nullptr;
  for (const char* library : libraries)
    // The handle is kept: it counts one user of a library the application has loaded itself.
    if (void* handle = address ? nullptr : dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
      address = dlsym(handle, name);
  dlerror(); // what was not found is not the program's
  return address;
}

void* besideNext(const char* name, const char* other,
                 std::span<const char* const> libraries) noexcept {
  const void* const next = nextSymbol(name, libraries);
  Dl_info info{};
  if (!next || dladdr(next, &info) == 0 || !info.dli_fname)
    return nullptr;
  void* const handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* const address = handle ? dlsym(handle, other) : nullptr;
  if (handle)
    dlclose(handle); // the program decides how long the library stays
  dlerror();         // what was not found is not the program's
  return address;
}

} // namespace mneme::loaded
