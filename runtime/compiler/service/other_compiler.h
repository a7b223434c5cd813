// Room compiler: kernel compilers that hold another LLVM, as configurations name them. Loads none.
#pragma once

#include <string>

namespace mneme::compile {

/// The text that names a kernel compiler in configurations: the absolute path of its
/// libmneme_compile.so, "@", and the hash of libraryIdentity() as 16 digits, so that a library that
/// was built again is another compiler.
/// \throws Error{InvalidArgument} if there is no such file
std::string compilerText(const std::string& path);

/// Returns the path in such a text. \throws Error{InvalidArgument} if the library is not there, or
/// has changed
std::string compilerPathIn(const std::string& text);

} // namespace mneme::compile
