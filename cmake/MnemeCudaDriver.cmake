include_guard(GLOBAL)

# CUDA::cuda_driver, for programs of the CUDA driver API. CMake makes it of the toolkit's stub of the
# driver, which toolkits from PyPI lack; then mneme's is linked. With either, a program needs
# libcuda.so.1: the machine's or, on the CPU device, what mneme preloads.

# Makes the target unless there is one; `libraries` is the directory of mneme's libraries.
function(_mneme_offer_cuda_driver libraries)
  if(TARGET CUDA::cuda_driver)
    return()
  endif()
  if(TARGET mneme_cuda_stub)
    # This build has mneme as a subdirectory.
    add_library(CUDA::cuda_driver INTERFACE IMPORTED GLOBAL)
    set_target_properties(CUDA::cuda_driver PROPERTIES INTERFACE_LINK_LIBRARIES mneme_cuda_stub)
  elseif(EXISTS "${libraries}/driver_stubs/libcuda.so")
    add_library(CUDA::cuda_driver SHARED IMPORTED GLOBAL)
    set_target_properties(CUDA::cuda_driver PROPERTIES
      IMPORTED_LOCATION "${libraries}/driver_stubs/libcuda.so" IMPORTED_SONAME libcuda.so.1)
  else()
    return()
  endif()
  set(headers ${CUDAToolkit_INCLUDE_DIRS} ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  list(REMOVE_DUPLICATES headers)
  set_target_properties(CUDA::cuda_driver PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${headers}" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${headers}")
endfunction()

# The same as soon as it is known that find_package(CUDAToolkit) makes none.
function(_mneme_offer_cuda_driver_now)
  get_property(libraries GLOBAL PROPERTY MNEME_CUDA_DRIVER_LIBRARIES)
  if(CUDAToolkit_FOUND AND libraries)
    _mneme_offer_cuda_driver("${libraries}")
  endif()
endfunction()

# Now or, whatever the order of find_package() calls, when the project has made all its targets.
function(_mneme_offer_cuda_driver_in_time libraries)
  get_property(isPlanned GLOBAL PROPERTY MNEME_CUDA_DRIVER_LIBRARIES SET)
  if(NOT isPlanned AND NOT CMAKE_SCRIPT_MODE_FILE)
    set_property(GLOBAL PROPERTY MNEME_CUDA_DRIVER_LIBRARIES "${libraries}")
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]]
      CALL _mneme_offer_cuda_driver [[${libraries}]])")
  endif()
  _mneme_offer_cuda_driver_now()
endfunction()

# CMake 3.25 as Debian 12 has it stops in find_package(CUDAToolkit) where the project requires 3.25 and the toolkit has
# no nvToolsExt, as CUDA 13: it calls that target deprecated whether it is there or not. This variable, and no other,
# decides that. A macro, since the variable is the caller's.
macro(_mneme_excuse_missing_nvtx)
  if(CMAKE_VERSION VERSION_LESS 3.26 AND CMAKE_MINIMUM_REQUIRED_VERSION VERSION_GREATER_EQUAL 3.25)
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  endif()
endmacro()
