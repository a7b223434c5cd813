# Makes a project recordable that knows nothing of mneme. `mneme config cmake-args` gives it to CMake, which
# reads it at the first project() (CMAKE_PROJECT_TOP_LEVEL_INCLUDES, CMake 3.24): no language is enabled then.

#[=======================================================================[.rst:
.. code-block:: console

  $ cmake -S . -B build $(mneme config cmake-args)

At the end of the configure, every target of the project that has device code gets
:cmake:command:`add_mneme`: CUDA and HIP sources, whatever their names, and C++ sources that the target or
what it links has compiled with ``-x cuda`` or ``-x hip``. If the project calls :cmake:command:`add_mneme` or
:cmake:command:`add_proteus` itself, it has chosen, and no other target is touched. Imported targets and projects
that the build configures on their own (``ExternalProject``) are not reached.

.. cmake:variable:: MNEME_TARGETS

  A list of names and regular expressions for whole names: these targets, also if the project calls
  :cmake:command:`add_mneme` for others. A name is taken as it is; an expression stands for targets with
  device code. One that fits no target is an error. Default: every target with device code.

.. cmake:variable:: MNEME_EXCLUDE_TARGETS

  A list of the same kind: targets to leave out.

Before the project sees them, programs get the shared CUDA runtime, by which the recorder places memory on a GPU
(``CMAKE_CUDA_RUNTIME_LIBRARY``, ``CUDA_USE_STATIC_CUDA_RUNTIME``, ``CUDA::cudart_static``), and
``CUDA::cuda_driver`` is there with toolkits that have no stub of the driver, too.

``CMAKE_PROJECT_TOP_LEVEL_INCLUDES`` is a list: with a file of your own, name both, the file of mneme as
``$(mneme config cmakedir)/MnemeWholeProject.cmake``.
#]=======================================================================]

include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.24...3.31) # whatever the project requires

# The toolkit that mneme's compilers take; empty if there is none. What it lacks is reported here, since CMake
# only says that it does not know the compiler.
function(_mneme_toolkit result)
  get_filename_component(prefix "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../.." ABSOLUTE)
  execute_process(COMMAND "${prefix}/bin/nvcc" - __cmake_determine_cuda
    OUTPUT_VARIABLE said ERROR_VARIABLE complaint RESULT_VARIABLE code)
  set(${result} "" PARENT_SCOPE)
  if(code EQUAL 0 AND said MATCHES "#\\$ TOP=([^\n]+)")
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    if(complaint MATCHES "^nvcc: (.*[^\n])")
      message(WARNING "mneme: ${CMAKE_MATCH_1}")
    endif()
  endif()
endfunction()

# Answers what CMake's modules for the toolkit would look for: the shared runtime wherever the static one is
# asked for, and a stub of the driver where the toolkit has none.
function(_mneme_choose_libraries)
  set(CUDA_USE_STATIC_CUDA_RUNTIME OFF CACHE BOOL "mneme places memory by the shared CUDA runtime")
  _mneme_toolkit(root)
  if(root STREQUAL "")
    return()
  endif()
  foreach(folder IN ITEMS lib64 lib)
    if(EXISTS "${root}/${folder}/libcudart.so")
      set(CUDA_cudart_static_LIBRARY "${root}/${folder}/libcudart.so" CACHE FILEPATH
        "mneme places memory by the shared CUDA runtime")
      break()
    endif()
  endforeach()
  find_library(CUDA_cuda_driver_LIBRARY NAMES cuda HINTS "${root}"
    PATHS "/usr/lib/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu" # which CMake knows when a language is enabled
    PATH_SUFFIXES lib64/stubs lib/stubs lib64 lib)
  get_filename_component(ours "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../driver_stubs/libcuda.so" ABSOLUTE)
  if(NOT CUDA_cuda_driver_LIBRARY AND EXISTS "${ours}")
    set(CUDA_cuda_driver_LIBRARY "${ours}" CACHE FILEPATH "The toolkit has no stub of the driver" FORCE)
  endif()
  if(NOT CUDA_CUDA_LIBRARY AND CUDA_cuda_driver_LIBRARY)
    set(CUDA_CUDA_LIBRARY "${CUDA_cuda_driver_LIBRARY}" CACHE FILEPATH "As CUDA_cuda_driver_LIBRARY" FORCE)
  endif()
endfunction()

# Calls add_mneme() for the targets to be recorded, behind everything else that waits for the end.
function(_mneme_instrument_project_last)
  cmake_language(DEFER CALL _mneme_instrument_project)
endfunction()

function(_mneme_instrument_project)
  if(NOT COMMAND add_mneme)
    find_package(mneme CONFIG REQUIRED PATHS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}" NO_DEFAULT_PATH)
  endif()
  _mneme_targets_below("${CMAKE_SOURCE_DIR}" targets)
  set(own "") # chosen by the project
  set(others "")
  foreach(target IN LISTS targets)
    get_target_property(condition ${target} MNEME_DEVICE_CONDITION)
    if(condition)
      list(APPEND own ${target})
    else()
      list(APPEND others ${target})
    endif()
  endforeach()
  _mneme_choose_targets("${others}" chosen left)
  if(own AND "${MNEME_TARGETS}" STREQUAL "")
    list(APPEND left ${chosen})
    set(chosen "")
  endif()
  foreach(target IN LISTS chosen)
    _mneme_see_compilers_of(${target})
    set_property(TARGET ${target} PROPERTY CUDA_RUNTIME_LIBRARY) # add_mneme() chooses
    add_mneme(${target})
  endforeach()
  _mneme_tell_targets("${own};${chosen}" "${left}")
endfunction()

# Targets of a directory and those below it that compile something.
function(_mneme_targets_below directory result)
  set(found "")
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    if(kind MATCHES "^(EXECUTABLE|(SHARED|STATIC|MODULE|OBJECT)_LIBRARY)$")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    # Where mneme is part of the build, its own targets are not the project's.
    if(NOT TARGET mneme_passes OR NOT "${folder}" STREQUAL "${mneme_SOURCE_DIR}")
      _mneme_targets_below("${folder}" below)
      list(APPEND found ${below})
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Divides targets into those to be recorded and those that have device code and are left out.
function(_mneme_choose_targets targets chosen left)
  set(chosenNow "")
  set(leftNow "")
  set(fitting "") # names and expressions that fit a target
  foreach(target IN LISTS targets)
    _mneme_has_device_code(${target} isDevice)
    set(isWanted "${isDevice}")
    if(NOT "${MNEME_TARGETS}" STREQUAL "")
      _mneme_first_fitting(${target} "${MNEME_TARGETS}" fit)
      if(NOT isDevice AND NOT fit STREQUAL target OR fit STREQUAL "")
        set(isWanted FALSE)
      else()
        set(isWanted TRUE)
        list(APPEND fitting "${fit}")
      endif()
    endif()
    _mneme_first_fitting(${target} "${MNEME_EXCLUDE_TARGETS}" fit)
    if(isWanted AND fit STREQUAL "")
      list(APPEND chosenNow ${target})
    elseif(isDevice)
      list(APPEND leftNow ${target})
    endif()
  endforeach()
  foreach(wanted IN LISTS MNEME_TARGETS)
    if(NOT wanted IN_LIST fitting)
      _mneme_refuse_unfitting("${wanted}")
    endif()
  endforeach()
  set(${chosen} "${chosenNow}" PARENT_SCOPE)
  set(${left} "${leftNow}" PARENT_SCOPE)
endfunction()

# The name or regular expression of a list that fits the target's whole name; the name itself first.
function(_mneme_first_fitting target wanted result)
  set(${result} "" PARENT_SCOPE)
  if(target IN_LIST wanted)
    set(${result} ${target} PARENT_SCOPE)
    return()
  endif()
  foreach(one IN LISTS wanted)
    if(target MATCHES "^(${one})$")
      set(${result} "${one}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Fails if nothing in the build has the name, or a name that fits: the project itself may have named it.
function(_mneme_refuse_unfitting wanted)
  _mneme_targets_below("${CMAKE_SOURCE_DIR}" targets)
  foreach(target IN LISTS targets)
    _mneme_first_fitting(${target} "${wanted}" fit)
    if(fit)
      return()
    endif()
  endforeach()
  list(JOIN targets ", " names)
  message(FATAL_ERROR "MNEME_TARGETS: '${wanted}' fits no target of this project that compiles something; "
    "it has: ${names}")
endfunction()

# Does the target compile device code? What a directory made known to itself alone, such as a package found
# there, cannot be looked into from here: C++ that links it counts unless CUDA or HIP is a language there.
function(_mneme_has_device_code target result)
  set(${result} TRUE PARENT_SCOPE)
  get_target_property(directory ${target} SOURCE_DIR)
  foreach(language IN ITEMS CUDA HIP)
    get_directory_property(isEnabled DIRECTORY "${directory}" DEFINITION CMAKE_${language}_COMPILER_ID)
    set(has${language} "${isEnabled}")
  endforeach()
  get_directory_property(options DIRECTORY "${directory}" DEFINITION CMAKE_CXX_FLAGS)
  _mneme_requirements(${target} sources options hasUnknown)
  set(hasCxx FALSE)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<TARGET_OBJECTS:([^<>]+)>")
      if(TARGET ${CMAKE_MATCH_1})
        _mneme_has_device_code(${CMAKE_MATCH_1} isDevice)
        if(isDevice)
          return() # it links the objects, and so needs what they need
        endif()
      endif()
      continue()
    endif()
    string(REGEX REPLACE "^\\$<.*:|>+$" "" file "${source}")
    get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${directory}")
    _mneme_source_language(${target} "${file}" language)
    if(language MATCHES "^(CUDA|HIP)$" AND has${language})
      return()
    elseif(language STREQUAL "CXX")
      set(hasCxx TRUE)
      foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_FLAGS)
        get_source_file_property(own "${file}" TARGET_DIRECTORY ${target} ${property})
        list(APPEND options "${own}")
      endforeach()
    endif()
  endforeach()
  if(hasCxx AND options MATCHES "(^|[; :>,\"])-x[; ]*(cuda|hip)([; >,\"]|$)")
    return()
  endif()
  get_directory_property(compiler DIRECTORY "${directory}" DEFINITION CMAKE_CXX_COMPILER)
  if(hasCxx AND hasUnknown AND NOT hasCUDA AND NOT hasHIP AND compiler MATCHES "/mneme-(clang\\+\\+|cxx|hipcc)$")
    return()
  endif()
  set(${result} FALSE PARENT_SCOPE)
endfunction()

# Adds the sources and compile options of a target and of what it links. `hasUnknown`: it links what cannot be
# looked into.
function(_mneme_requirements target sources options hasUnknown)
  set(allSources "")
  set(allOptions "${${options}}")
  set(isBlind FALSE)
  get_target_property(directory ${target} SOURCE_DIR)
  set(imported "")
  while(directory AND NOT directory STREQUAL "${CMAKE_SOURCE_DIR}")
    get_property(names DIRECTORY "${directory}" PROPERTY IMPORTED_TARGETS)
    list(APPEND imported ${names})
    get_property(directory DIRECTORY "${directory}" PROPERTY PARENT_DIRECTORY)
  endwhile()
  set(kind "") # of the properties: the target's own, then what others offer
  set(waiting ${target})
  set(seen ${target})
  while(waiting)
    list(POP_FRONT waiting one)
    get_target_property(value ${one} ${kind}SOURCES)
    if(value)
      list(APPEND allSources ${value})
    endif()
    foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_FLAGS)
      get_target_property(value ${one} ${kind}${property})
      if(value)
        list(APPEND allOptions ${value})
      endif()
    endforeach()
    get_target_property(value ${one} ${kind}LINK_LIBRARIES)
    string(REGEX REPLACE "\\$<LINK_ONLY:[^<>]*>" "" value "${value}")
    # Names in generator expressions, too.
    string(REGEX MATCHALL "[A-Za-z0-9_.+:-]+" names "${value}")
    list(TRANSFORM names REPLACE "^([^:]*[^:])?:([^:])" "\\2") # $<BUILD_INTERFACE:name>
    foreach(name IN LISTS names)
      if(name IN_LIST seen)
        continue()
      endif()
      list(APPEND seen "${name}")
      if(TARGET "${name}")
        list(APPEND waiting "${name}")
      elseif(name IN_LIST imported)
        set(isBlind TRUE)
      endif()
    endforeach()
    set(kind INTERFACE_)
  endwhile()
  set(${sources} "${allSources}" PARENT_SCOPE)
  set(${options} "${allOptions}" PARENT_SCOPE)
  set(${hasUnknown} ${isBlind} PARENT_SCOPE)
endfunction()

# Makes known here which compilers the directory of a target has, for add_mneme() and what it defers.
macro(_mneme_see_compilers_of target)
  get_target_property(directory ${target} SOURCE_DIR)
  foreach(language IN ITEMS CXX CUDA HIP)
    foreach(fact IN ITEMS COMPILER COMPILER_ID COMPILER_VERSION COMPILER_TOOLKIT_ROOT)
      get_directory_property(value DIRECTORY "${directory}" DEFINITION CMAKE_${language}_${fact})
      if(value AND NOT CMAKE_${language}_${fact})
        set(CMAKE_${language}_${fact} "${value}")
        set(CMAKE_${language}_${fact} "${value}" PARENT_SCOPE)
      endif()
    endforeach()
  endforeach()
endmacro()

# A list as text; what is too long for a line is counted.
function(_mneme_join targets result)
  list(LENGTH targets count)
  list(SUBLIST targets 0 12 targets)
  list(JOIN targets ", " text)
  if(count GREATER 12)
    math(EXPR more "${count} - 12")
    string(APPEND text " and ${more} more")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# One line each of what is recordable and of what has device code and is not.
function(_mneme_tell_targets recordable left)
  list(REMOVE_ITEM recordable "")
  _mneme_join("${recordable}" names)
  _mneme_join("${left}" leftNames)
  if(recordable)
    message(STATUS "mneme: recordable: ${names}")
  else()
    message(STATUS "mneme: no target of this project becomes recordable")
  endif()
  if(left)
    message(STATUS "mneme: device code of these targets is not recordable and does not run on the CPU device: ${leftNames} "
      "(-DMNEME_TARGETS=<name>;... or add_mneme(<name>) adds targets)")
  endif()
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/MnemeCudaDriver.cmake")
_mneme_excuse_missing_nvtx()
# CMake warns of options that no language of the project reads: read here, they are silent.
foreach(variable IN ITEMS C_COMPILER CUDA_COMPILER CUDA_ARCHITECTURES)
  set(_mneme_read "${CMAKE_${variable}}")
endforeach()
unset(_mneme_read)
_mneme_choose_libraries()
cmake_language(DEFER CALL _mneme_instrument_project_last)
cmake_policy(POP)
