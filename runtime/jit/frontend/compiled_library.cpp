#include "runtime/jit/frontend/compiled_library.h"

#include <dlfcn.h>

#include "runtime/core/base/error.h"

namespace proteus {

void* CompiledLibrary::find(const std::string& symbol) const {
  if (handle_) {
    if (void* const address = dlsym(handle_, symbol.c_str()))
      return address;
    throw mneme::Error(mneme::ErrorCode::NotFound,
                       "the module has no function '" + symbol +
                           "'; names are symbols: declare it extern \"C\", or give the mangled "
                           "name");
  }
  if (void* const kernel = unit_->kernel(symbol))
    return kernel;
  std::string list;
  for (const std::string& name : unit_->names())
    list += (list.empty() ? "'" : ", '") + name + "'";
  throw mneme::Error(mneme::ErrorCode::NotFound,
                     "the module has no kernel '" + symbol + "'; it has " + list);
}

} // namespace proteus
