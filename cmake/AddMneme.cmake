include_guard(GLOBAL)

#[[ add_mneme(<target> [KERNELS <regex>])

Make an existing executable or library recordable: each kernel's LLVM IR is embedded in the device
image and every launch goes through libmneme_rt. Needs clang as CUDA (or HIP) compiler.
  <target>   Executable or library, already created. Mandatory. No generator expressions.
  KERNELS    Regular expression searched in demangled kernel names; others stay as they are.
             Default: every kernel. No generator expressions.
Effects: PRIVATE compile options and link requirements on <target>; CUDA_RUNTIME_LIBRARY becomes
Shared unless the target sets it, so that the recorder sees allocations. ]]
function(add_mneme target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KERNELS" "")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "add_mneme: '${target}' is not a target")
  elseif(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_mneme(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  elseif(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "add_mneme(${target}): ${arg_KEYWORDS_MISSING_VALUES} needs a value")
  endif()
  _mneme_check_compilers(${target})

  set(isDevice "$<COMPILE_LANGUAGE:CXX,CUDA,HIP>")
  target_compile_options(${target} PRIVATE
    "$<${isDevice}:-fpass-plugin=$<TARGET_FILE:Mneme::passes>>"
    "$<${isDevice}:-fno-discard-value-names>")
  if(arg_KERNELS)
    # -fplugin loads the plugin before options are read, so that it knows its own.
    target_compile_options(${target} PRIVATE
      "$<${isDevice}:-fplugin=$<TARGET_FILE:Mneme::passes>>"
      "$<${isDevice}:SHELL:-mllvm -mneme-kernels=${arg_KERNELS}>")
  endif()
  target_link_libraries(${target} PRIVATE Mneme::mnemert)
  get_target_property(runtimeLibrary ${target} CUDA_RUNTIME_LIBRARY)
  if(NOT runtimeLibrary)
    set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  endif()
endfunction()

# Fails with the name of the right compiler when one of the project's cannot load the passes.
function(_mneme_check_compilers target)
  foreach(language IN ITEMS CUDA HIP CXX)
    if(NOT CMAKE_${language}_COMPILER_ID)
      continue()
    endif()
    if(NOT CMAKE_${language}_COMPILER_ID STREQUAL "Clang")
      message(FATAL_ERROR "add_mneme(${target}): the ${language} compiler is "
        "${CMAKE_${language}_COMPILER_ID} (${CMAKE_${language}_COMPILER}); mneme's passes need clang "
        "${MNEME_LLVM_MAJOR}: configure with -DCMAKE_${language}_COMPILER=${MNEME_CXX_COMPILER} "
        "(all options: mneme config cmake-args)")
    endif()
    string(REGEX MATCH "^[0-9]+" major "${CMAKE_${language}_COMPILER_VERSION}")
    if(NOT major)
      execute_process(COMMAND "${CMAKE_${language}_COMPILER}" -dumpversion OUTPUT_VARIABLE major)
      string(REGEX MATCH "^[0-9]+" major "${major}")
    endif()
    if(NOT major STREQUAL MNEME_LLVM_MAJOR)
      message(FATAL_ERROR "add_mneme(${target}): the ${language} compiler is clang ${major} "
        "(${CMAKE_${language}_COMPILER}); this mneme was built for clang ${MNEME_LLVM_MAJOR}: "
        "configure with -DCMAKE_${language}_COMPILER=${MNEME_CXX_COMPILER}")
    endif()
  endforeach()
endfunction()
