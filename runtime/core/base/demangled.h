// Room core/base: readable C++ names.
#pragma once

#include <cstdlib>
#include <string>

#include <cxxabi.h>

namespace mneme {

/// Returns "scale(double*, int)" for "_Z5scalePdi". A name that is not mangled is returned
/// unchanged.
inline std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string readable = text ? text : name;
  std::free(text);
  return readable;
}

} // namespace mneme
