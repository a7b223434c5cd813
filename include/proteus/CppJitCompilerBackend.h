// The compilers for C++ code that is given at run time.
#pragma once

namespace proteus {

enum class CppJitCompilerBackend { Clang, Nvcc };

} // namespace proteus
