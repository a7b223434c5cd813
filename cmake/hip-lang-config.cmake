# What CMake asks a HIP for when it enables the language HIP, where HIP is not laid out as AMD lays it out:
# distributions keep the package where CMake before 3.27 does not look, and theirs want ROCm's own clang.
# mneme's compilers name the directory above as CMake's root of ROCm; they find HIP itself.
if(NOT TARGET hip-lang::device)
  add_library(hip-lang::device INTERFACE IMPORTED)
  # With it clang links the device code and libamdhip64.
  set_target_properties(hip-lang::device PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS "$<$<COMPILE_LANGUAGE:HIP>:__HIP_ROCclr__=1>"
    INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:HIP>:--hip-link>")
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
