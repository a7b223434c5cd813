# How libmneme_compile gets its LLVM and lld. MNEME_LINK_SHARED_LLVM: OFF links the static archives
# with hidden symbols, ON links libLLVM.so, AUTO takes the archives where they exist.

find_path(MNEME_LLD_INCLUDE_DIR lld/Common/Driver.h HINTS ${LLVM_INCLUDE_DIRS} NO_DEFAULT_PATH)
find_library(MNEME_LLD_ELF lldELF HINTS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH)
find_library(MNEME_LLD_COMMON lldCommon HINTS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH)
if(NOT MNEME_LLD_INCLUDE_DIR OR NOT MNEME_LLD_ELF OR NOT MNEME_LLD_COMMON)
  message(FATAL_ERROR "mneme needs lld's libraries beside LLVM ${LLVM_VERSION} in ${LLVM_LIBRARY_DIRS}; "
    "on Debian and Ubuntu install liblld-${LLVM_VERSION_MAJOR}-dev")
endif()
if(NOT TARGET MnemeLldHeaders)
  add_library(MnemeLldHeaders INTERFACE)
  target_include_directories(MnemeLldHeaders SYSTEM INTERFACE ${MNEME_LLD_INCLUDE_DIR})
endif()

# Code generators that are linked; not every LLVM has AMD's.
set(_mneme_llvm_targets ${LLVM_NATIVE_ARCH} NVPTX)
if("AMDGPU" IN_LIST LLVM_TARGETS_TO_BUILD)
  list(APPEND _mneme_llvm_targets AMDGPU)
endif()

include("${LLVM_CMAKE_DIR}/LLVMConfigExtensions.cmake" OPTIONAL) # LLVM_STATIC_EXTENSIONS
include(CheckLinkerFlag)
check_linker_flag(CXX "-fuse-ld=lld" MNEME_HAVE_LLD_LINKER)

#[[ mneme_llvm_compile_settings(<target>)

Compile as LLVM itself was: without RTTI where LLVM has none. ]]
function(mneme_llvm_compile_settings target)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${target} PRIVATE -fno-rtti)
  endif()
endfunction()

# lld initialises every target LLVM knows, and its link-time optimiser every extension LLVM was
# built with. Empty stand-ins for those we do not use keep them out of the library.
function(_mneme_write_unused_parts file)
  set(text "// Generated: parts of LLVM that libmneme_compile does without.\nextern \"C\" {\n")
  foreach(name IN LISTS LLVM_TARGETS_TO_BUILD)
    if(name IN_LIST _mneme_llvm_targets)
      continue()
    endif()
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND text "void LLVMInitialize${name}${part}() {}\n")
    endforeach()
  endforeach()
  foreach(name IN LISTS LLVM_STATIC_EXTENSIONS)
    set(function "get${name}PluginInfo")
    string(LENGTH "${function}" length)
    string(APPEND text "void _Z${length}${function}v() { __builtin_trap(); }\n")
  endforeach()
  string(APPEND text "}\n")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
endfunction()

# What is linked for a library that LLVM's own package names, such as zstd::libzstd_shared.
function(_mneme_system_library result name)
  if(MNEME_STATIC_DEPENDENCIES)
    if(name MATCHES "^zstd::")
      mneme_archive(name zstd)
    elseif(name STREQUAL "ZLIB::ZLIB")
      mneme_archive(name z)
    endif()
  endif()
  set(${result} ${name} PARENT_SCOPE)
endfunction()

# The archives behind <components> and the system libraries they need, without the extensions.
function(_mneme_llvm_archives result)
  llvm_map_components_to_libnames(pending ${ARGN})
  set(seen "")
  set(files "")
  while(pending)
    list(POP_FRONT pending name)
    if(name IN_LIST seen OR name STREQUAL "LLVMExtensions")
      continue()
    endif()
    list(APPEND seen ${name})
    if(name MATCHES "^LLVM" AND TARGET ${name})
      list(APPEND files $<TARGET_FILE:${name}>)
      get_target_property(needed ${name} INTERFACE_LINK_LIBRARIES)
      if(needed)
        list(APPEND pending ${needed})
      endif()
    else()
      _mneme_system_library(name ${name})
      list(APPEND system ${name})
    endif()
  endwhile()
  set(${result} -Wl,--start-group ${files} -Wl,--end-group -Wl,--as-needed ${system} PARENT_SCOPE)
endfunction()

#[[ mneme_link_llvm(<target> <shared>)

Link <target>, a shared library, with LLVM and lld, exporting only mneme_compile_*. <shared> is what
MNEME_LINK_SHARED_LLVM can be. ]]
function(mneme_link_llvm target shared)
  set(isShared ${shared})
  if(isShared STREQUAL "AUTO")
    find_library(MNEME_LLVM_STATIC_CORE libLLVMCore.a HINTS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH)
    set(isShared OFF)
    if(NOT MNEME_LLVM_STATIC_CORE)
      set(isShared ON)
    endif()
  endif()

  if(isShared)
    set(libraries LLVM)
    foreach(name ZLIB::ZLIB zstd::libzstd_shared) # lld's own needs
      if(TARGET ${name})
        list(APPEND libraries ${name})
      endif()
    endforeach()
  else()
    _mneme_write_unused_parts("${CMAKE_CURRENT_BINARY_DIR}/unused_parts.cpp")
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/unused_parts.cpp")
    set(components ${_mneme_llvm_targets} Passes Linker BitReader BitWriter IRReader AsmParser
      IPO Coroutines LTO Option Target TargetParser)
    if(TARGET LLVMDTLTO) # apart from LTO since LLVM 22
      list(APPEND components DTLTO)
    endif()
    _mneme_llvm_archives(libraries ${components})
  endif()
  target_link_libraries(${target} PRIVATE ${MNEME_LLD_ELF} ${MNEME_LLD_COMMON} ${libraries})

  set(exports "${CMAKE_CURRENT_SOURCE_DIR}/exports.map")
  # exit and abort inside LLVM or lld end the compilation, not the process: see fatal_guard.h.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-z,nodelete
    "-Wl,--version-script=${exports}" -Wl,--wrap=exit,--wrap=_exit,--wrap=abort)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exports}")
  if(MNEME_HAVE_LLD_LINKER)
    target_link_options(${target} PRIVATE -fuse-ld=lld -Wl,--build-id=fast -Wl,-O1)
  else()
    target_link_options(${target} PRIVATE -Wl,--build-id=sha1)
  endif()
  if(NOT MNEME_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_link_options(${target} PRIVATE -Wl,--strip-debug)
  endif()
endfunction()
