// Room base: names of C++ for people.
#pragma once

#include <cstdlib>
#include <string>

#include <cxxabi.h>

namespace mneme {

/// "scale(double*, int)" of "_Z5scalePdi"; what is no mangled name stays as it is.
inline std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string readable = text ? text : name;
  std::free(text);
  return readable;
}

} // namespace mneme
