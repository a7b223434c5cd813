// Where a device variable of the program is (jit_backend.h).
#include "runtime/jit/jit_backend.h"

#include <dlfcn.h>

namespace mneme::jit {

const void* variablePlaceOf(const void* hostShadow) noexcept {
  using Find = int (*)(void**, const void*);
  for (const char* name : {"cudaGetSymbolAddress", "hipGetSymbolAddress"}) {
    void* place = nullptr;
    const auto find = reinterpret_cast<Find>(dlsym(RTLD_DEFAULT, name));
    if (find && find(&place, hostShadow) == 0)
      return place;
  }
  return nullptr;
}

} // namespace mneme::jit
