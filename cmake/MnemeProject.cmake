# Settings shared by every target of mneme itself (not by its users).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Everything that runs (tests, the CMake package of the build tree) finds its siblings here.
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_INSTALL_RPATH "$ORIGIN")

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_package(nlohmann_json REQUIRED)
include(MnemeStaticDependencies)
if(MNEME_STATIC_DEPENDENCIES)
  mneme_use_archives()
endif()

#[[ mneme_library(<name> [SHARED|STATIC] SOURCES <file>... [LINK <target>...] [LINK_PRIVATE <target>...])

Declare a library of mneme with alias Mneme::<name>, warnings on, includes relative to the
repository root. STATIC (the default) is for rooms linked into one of the shared libraries. ]]
function(mneme_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED;STATIC;MODULE" "" "SOURCES;LINK;LINK_PRIVATE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "mneme_library: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(kind STATIC)
  if(arg_SHARED)
    set(kind SHARED)
  elseif(arg_MODULE)
    set(kind MODULE)
  endif()
  add_library(${name} ${kind} ${arg_SOURCES})
  add_library(Mneme::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE ${arg_LINK_PRIVATE})
  mneme_target_settings(${name})
  list(LENGTH arg_SOURCES count)
  if(count GREATER_EQUAL 6) # below, precompiling takes longer than it saves
    mneme_precompile_std_headers(${name})
  endif()
endfunction()

#[[ mneme_precompile_std_headers(<target>)

Headers of the C++ library that most of our files read, and which take as long as all the rest. ]]
function(mneme_precompile_std_headers target)
  target_precompile_headers(${target} PRIVATE <algorithm> <atomic> <cstdint> <cstring> <filesystem> <functional>
    <map> <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map> <utility> <vector>)
  mneme_keep_precompiled(${target})
endfunction()

#[[ mneme_target_settings(<target>)

Warnings and sanitizers of the project, for libraries, tests and tools alike. ]]
function(mneme_target_settings name)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  if(MNEME_STATIC_DEPENDENCIES)
    mneme_hide_archives(${name})
  endif()
  if(MNEME_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${MNEME_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(${name} PRIVATE -fsanitize=${MNEME_SANITIZE})
  endif()
endfunction()

#[[ mneme_unit_test(<name> SOURCES <file>... [LINK <target>...])

Declare a C++ unit test program (doctest) run by ctest as `unit.<name>`. ]]
function(mneme_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(NOT MNEME_ENABLE_TESTS)
    return()
  endif()
  find_package(doctest REQUIRED)
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${arg_LINK} doctest::doctest)
  list(GET arg_SOURCES 0 mainSource)
  set_property(SOURCE ${mainSource} APPEND PROPERTY
    COMPILE_DEFINITIONS DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN)
  mneme_target_settings(test_${name})
  list(LENGTH arg_SOURCES count)
  if(count GREATER_EQUAL 6)
    mneme_precompile_std_headers(test_${name})
    target_precompile_headers(test_${name} PRIVATE <doctest/doctest.h>)
    set_property(SOURCE ${mainSource} PROPERTY SKIP_PRECOMPILE_HEADERS ON) # defines what doctest reads
  endif()
  add_test(NAME unit.${name} COMMAND test_${name})
endfunction()

#[[ mneme_find_llvm()

Find LLVM (22 by default, 19 at the oldest; -DLLVM_DIR or -DLLVM_INSTALL_DIR choose one) once, and
define the interface target `MnemeLlvmHeaders`. ]]
macro(mneme_find_llvm)
  if(LLVM_INSTALL_DIR)
    list(APPEND CMAKE_PREFIX_PATH "${LLVM_INSTALL_DIR}")
  endif()
  if(NOT LLVM_DIR)
    find_package(LLVM 22 CONFIG QUIET HINTS /usr/lib/llvm-22)
  endif()
  find_package(LLVM CONFIG REQUIRED)
  if(LLVM_VERSION_MAJOR LESS 19)
    message(FATAL_ERROR "mneme needs LLVM 19 or newer, found ${LLVM_VERSION} in ${LLVM_DIR}; "
      "pass -DLLVM_INSTALL_DIR=<prefix of LLVM 22>")
  endif()
  if(NOT TARGET MnemeLlvmHeaders)
    add_library(MnemeLlvmHeaders INTERFACE)
    target_include_directories(MnemeLlvmHeaders SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
    target_compile_definitions(MnemeLlvmHeaders INTERFACE ${LLVM_DEFINITIONS_LIST})
  endif()
endmacro()

#[[ mneme_precompile_llvm_headers(<target>)

LLVM's headers are most of what there is to compile in a source that includes them: <target> reads
them once. Every source still includes what it uses; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds
so. ]]
function(mneme_precompile_llvm_headers target)
  target_precompile_headers(${target} PRIVATE
    <map> <memory> <optional> <string> <vector>
    <llvm/ADT/SmallVector.h> <llvm/ADT/StringExtras.h> <llvm/Analysis/LoopInfo.h>
    <llvm/Analysis/ValueTracking.h> <llvm/IR/IRBuilder.h> <llvm/IR/InstIterator.h>
    <llvm/IR/IntrinsicInst.h> <llvm/IR/Module.h> <llvm/Passes/PassBuilder.h>
    <llvm/Transforms/Utils/BasicBlockUtils.h> <llvm/Transforms/Utils/Cloning.h>)
  mneme_keep_precompiled(${target})
endfunction()

# Without the time of day in precompiled headers a compiler cache can keep what is made with them.
function(mneme_keep_precompiled target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()
