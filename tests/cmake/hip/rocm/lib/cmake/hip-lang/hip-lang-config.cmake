# The part of ROCm's package that CMake asks for when it enables the language.
add_library(hip-lang::device INTERFACE IMPORTED)
