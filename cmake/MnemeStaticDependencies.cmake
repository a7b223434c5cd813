# What a wheel cannot expect of the machine it comes to: with MNEME_STATIC_DEPENDENCIES, zstd,
# xxHash, zlib and the C++ library come from their archives, hidden in each of our libraries.
# libMnemePasses stays as it is: it lives in the user's clang, with that clang's C++ library.
option(MNEME_STATIC_DEPENDENCIES
  "Link zstd, xxHash, zlib and the C++ library from their archives, hidden (for wheels)" OFF)

#[[ mneme_archive(<result> <name> [<directory>...])

Set <result> to the path of lib<name>.a, which is in one of the directories or in the system's. ]]
function(mneme_archive result name)
  find_library(MNEME_ARCHIVE_${name} NAMES "lib${name}.a" HINTS ${ARGN})
  mark_as_advanced(MNEME_ARCHIVE_${name})
  if(NOT MNEME_ARCHIVE_${name})
    message(FATAL_ERROR "MNEME_STATIC_DEPENDENCIES needs lib${name}.a, which was not found; install "
      "the static library of ${name}, or configure with -DMNEME_STATIC_DEPENDENCIES=OFF")
  endif()
  set(${result} "${MNEME_ARCHIVE_${name}}" PARENT_SCOPE)
endfunction()

#[[ mneme_use_archives()

Make the targets of pkg-config stand for archives. ]]
function(mneme_use_archives)
  mneme_archive(zstd zstd ${ZSTD_LIBRARY_DIRS})
  set_target_properties(PkgConfig::ZSTD PROPERTIES INTERFACE_LINK_LIBRARIES "${zstd}")
  mneme_archive(xxhash xxhash ${XXHASH_LIBRARY_DIRS})
  set_target_properties(PkgConfig::XXHASH PROPERTIES INTERFACE_LINK_LIBRARIES "${xxhash}")
endfunction()

#[[ mneme_hide_archives(<target>)

Link the C++ library into <target> and export nothing that came from an archive of others; our own
archives may hold what a library is there to export. ]]
function(mneme_hide_archives target)
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    set(hidden ALL)
    if(type STREQUAL "SHARED_LIBRARY")
      set(hidden libzstd.a:libxxhash.a:libz.a:libboost_context.a:libstdc++.a)
    endif()
    target_link_options(${target} PRIVATE -static-libstdc++ "LINKER:--gc-sections"
      "LINKER:--exclude-libs,${hidden}")
  elseif(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE -static-libstdc++ "LINKER:--gc-sections")
  endif()
endfunction()
