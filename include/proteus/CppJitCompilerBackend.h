// Who compiles C++ that is given at run time.
#pragma once

namespace proteus {

enum class CppJitCompilerBackend { Clang, Nvcc };

} // namespace proteus
