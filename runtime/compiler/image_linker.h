// Room compiler: turns a relocatable object into a shared object, by lld in this process.
#pragma once

#include <string>

namespace mneme::compile {

enum class ImageKind {
  Kernel,     ///< refers to libc and libm only
  Function,   ///< for the host: may refer to exported symbols of the program, and be unwound
  Library,    ///< the same, but prefers its own definitions to the program's
  CodeObject, ///< for an AMD GPU: refers to nothing
};

/// Links one object; one for the host against this process's libc and libm. Nothing touches the
/// disk. lld has global state, so links run one at a time.
/// \throws Error{CompileFailed} with lld's message (an undefined function, say), Error{IoFailed}
/// when the operating system refuses memory files.
std::string linkSharedObject(const std::string& object, ImageKind kind = ImageKind::Kernel);

} // namespace mneme::compile
