// Functions of the driver, as a program to be recorded calls them.
#pragma once

#include <dlfcn.h>

namespace mneme::record::test {

template <typename... Args> inline int ofDriver(const char* name, Args... args) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto function = reinterpret_cast<int (*)(Args...)>(dlsym(driver, name));
  return function ? function(args...) : -1;
}

} // namespace mneme::record::test
