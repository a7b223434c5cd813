# find_package(proteus CONFIG), served by mneme: projects written for the reference tools configure
# as they are. add_proteus() makes kernels recordable and tunable, as add_mneme() does, and compiles
# what the source marks at run time. proteusFrontend is for programs that make kernels at run time.
find_package(mneme CONFIG QUIET PATHS "${CMAKE_CURRENT_LIST_DIR}/../mneme" NO_DEFAULT_PATH)
if(NOT mneme_FOUND)
  set(proteus_FOUND FALSE)
  set(proteus_NOT_FOUND_MESSAGE "${mneme_NOT_FOUND_MESSAGE}")
  return()
endif()
foreach(component IN LISTS proteus_FIND_COMPONENTS)
  set(proteus_${component}_FOUND FALSE)
  if(proteus_FIND_REQUIRED_${component})
    set(proteus_FOUND FALSE)
    set(proteus_NOT_FOUND_MESSAGE "mneme serves proteus without components, '${component}' among them")
  endif()
endforeach()

# The names that the reference tool's package gives its parts.
foreach(vendor IN ITEMS CUDA HIP)
  if(NOT DEFINED PROTEUS_ENABLE_${vendor})
    set(PROTEUS_ENABLE_${vendor} ON)
  endif()
endforeach()
# Where mneme was built with MPI and the project has one: its compilers find it.
if(NOT DEFINED PROTEUS_ENABLE_MPI OR PROTEUS_ENABLE_MPI)
  file(GLOB _mneme_mpi "${MNEME_LIBRARY_DIR}/libmneme_jit_mpi_*.so")
  set(PROTEUS_ENABLE_MPI OFF)
  if(_mneme_mpi)
    find_package(MPI QUIET)
    if(MPI_FOUND)
      set(PROTEUS_ENABLE_MPI ON)
    endif()
  endif()
  unset(_mneme_mpi)
endif()
set(PROTEUS_ENABLE_MLIR OFF)
foreach(name IN ITEMS proteus proteusCore proteusFrontend)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES INTERFACE_LINK_LIBRARIES Mneme::mnemert)
    # What sources ask for; a unit is for one vendor.
    if(PROTEUS_ENABLE_CUDA AND PROTEUS_ENABLE_HIP)
      set_property(TARGET ${name} PROPERTY INTERFACE_COMPILE_DEFINITIONS
        "PROTEUS_ENABLE_$<IF:$<COMPILE_LANGUAGE:HIP>,HIP,CUDA>")
    elseif(PROTEUS_ENABLE_CUDA)
      set_property(TARGET ${name} PROPERTY INTERFACE_COMPILE_DEFINITIONS PROTEUS_ENABLE_CUDA)
    elseif(PROTEUS_ENABLE_HIP)
      set_property(TARGET ${name} PROPERTY INTERFACE_COMPILE_DEFINITIONS PROTEUS_ENABLE_HIP)
    endif()
  endif()
endforeach()
if(PROTEUS_ENABLE_MPI)
  set_property(TARGET proteus APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS PROTEUS_ENABLE_MPI)
endif()
if(TARGET Mneme::frontend)
  set_property(TARGET proteusFrontend APPEND PROPERTY INTERFACE_LINK_LIBRARIES Mneme::frontend)
  # Programs with marks alone do not load it.
  set_property(TARGET proteus APPEND PROPERTY INTERFACE_LINK_LIBRARIES
    "-Wl,--push-state,--as-needed" "$<TARGET_FILE:Mneme::frontend>" "-Wl,--pop-state")
endif()
if(NOT TARGET proteus_cudart_builtins)
  add_library(proteus_cudart_builtins INTERFACE IMPORTED GLOBAL)
endif()
# What projects use of LLVM and of the toolkit behind this, as far as it is here; mneme needs neither.
if(NOT LLVM_FOUND)
  set(_mneme_llvm "${LLVM_INSTALL_DIR}")
  if(NOT _mneme_llvm AND EXISTS "${MNEME_PREFIX}/config.json")
    file(READ "${MNEME_PREFIX}/config.json" _mneme_llvm)
    string(JSON _mneme_llvm ERROR_VARIABLE _mneme_error GET "${_mneme_llvm}" llvmdir)
    unset(_mneme_error)
  endif()
  set(_mneme_config "${_mneme_llvm}/lib/cmake/llvm/LLVMConfig.cmake")
  if(EXISTS "${_mneme_config}" AND CMAKE_C_COMPILER_LOADED) # in which LLVM looks for libraries
    set(_mneme_level "${CMAKE_MESSAGE_LOG_LEVEL}")
    set(CMAKE_MESSAGE_LOG_LEVEL WARNING) # of what LLVM could be linked with
    find_package(LLVM CONFIG QUIET NO_DEFAULT_PATH PATHS "${_mneme_llvm}/lib/cmake/llvm")
    set(CMAKE_MESSAGE_LOG_LEVEL "${_mneme_level}")
    unset(_mneme_level)
  elseif(EXISTS "${_mneme_config}")
    set(LLVM_INCLUDE_DIRS "${_mneme_llvm}/include")
    file(STRINGS "${_mneme_config}" _mneme_config
      REGEX "^set\\((LLVM_ENABLE_RTTI|LLVM_VERSION_MAJOR) ")
    foreach(_mneme_line IN LISTS _mneme_config)
      if(_mneme_line MATCHES "^set\\(([A-Z_]+) +(.*)\\)$")
        separate_arguments(${CMAKE_MATCH_1} UNIX_COMMAND "${CMAKE_MATCH_2}")
      endif()
    endforeach()
    unset(_mneme_line)
  endif()
  unset(_mneme_config)
  unset(_mneme_llvm)
endif()
if(LLVM_INCLUDE_DIRS AND NOT CLANG_INCLUDE_DIRS)
  set(CLANG_INCLUDE_DIRS "${LLVM_INCLUDE_DIRS}") # where clang's headers lie, if they are installed
endif()
if(PROTEUS_ENABLE_CUDA AND NOT TARGET CUDA::cudart AND (CMAKE_CXX_COMPILER_LOADED OR CMAKE_CUDA_COMPILER_LOADED))
  find_package(CUDAToolkit QUIET)
endif()
get_target_property(_mneme_passes Mneme::passes IMPORTED_LOCATION)
if(NOT TARGET ProteusPass AND _mneme_passes)
  add_library(ProteusPass SHARED IMPORTED GLOBAL)
  set_target_properties(ProteusPass PROPERTIES IMPORTED_LOCATION "${_mneme_passes}"
    INTERFACE_COMPILE_OPTIONS "-fpass-plugin=${_mneme_passes}")
endif()

#[=======================================================================[.rst:
.. cmake:command:: proteus_register_jit_pass_plugin

  .. code-block:: cmake

    proteus_register_jit_pass_plugin(<target> PIPELINE <pipeline> PLUGIN_TARGET <plugin>)
    proteus_register_jit_pass_plugin(<target> PIPELINE <pipeline> PLUGIN_PATH <file>)

  What ``<target>`` marks is compiled with an LLVM pass plugin, as if ``main()`` began with
  ``proteus::registerJITPassPlugin(<file>, <pipeline>)`` (:doc:`/jit`). The plugin has to be built for
  the LLVM that mneme has. After ``find_package(proteus)``.

  ``PIPELINE <pipeline>``
    What is appended to the pass pipeline. Mandatory.

  ``PLUGIN_TARGET <plugin>``
    The target that builds the plugin, in this project.

  ``PLUGIN_PATH <file>``
    The plugin, instead of a target.
#]=======================================================================]
function(proteus_register_jit_pass_plugin target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PIPELINE;PLUGIN_TARGET;PLUGIN_PATH" "")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "proteus_register_jit_pass_plugin: '${target}' is not a target")
  elseif(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "proteus_register_jit_pass_plugin(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  elseif(NOT arg_PIPELINE)
    message(FATAL_ERROR "proteus_register_jit_pass_plugin(${target}): needs PIPELINE <pipeline>")
  elseif((arg_PLUGIN_TARGET AND arg_PLUGIN_PATH) OR NOT (arg_PLUGIN_TARGET OR arg_PLUGIN_PATH))
    message(FATAL_ERROR "proteus_register_jit_pass_plugin(${target}): needs one of PLUGIN_TARGET and PLUGIN_PATH")
  endif()
  if(arg_PLUGIN_TARGET)
    set(path "$<TARGET_FILE:${arg_PLUGIN_TARGET}>")
    add_dependencies(${target} ${arg_PLUGIN_TARGET})
  else()
    get_filename_component(path "${arg_PLUGIN_PATH}" ABSOLUTE)
  endif()

  get_property(count TARGET ${target} PROPERTY MNEME_PASS_PLUGINS)
  math(EXPR count "${count} + 0")
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_pass_plugin_${count}.cpp")
  math(EXPR count "${count} + 1")
  set_property(TARGET ${target} PROPERTY MNEME_PASS_PLUGINS ${count})
  file(GENERATE OUTPUT "${file}" CONTENT "// Generated by proteus_register_jit_pass_plugin().
extern \"C\" [[gnu::weak]] void mneme_jit_add_pass_plugin(const char* path, const char* pipeline);
[[gnu::constructor]] static void registerPassPlugin() {
  if (mneme_jit_add_pass_plugin)
    mneme_jit_add_pass_plugin(R\"mneme(${path})mneme\", R\"mneme(${arg_PIPELINE})mneme\");
}
")
  # Nothing refers to it: from an archive it would not be linked.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_sources(${target} INTERFACE "${file}")
  else()
    target_sources(${target} PRIVATE "${file}")
  endif()
endfunction()
