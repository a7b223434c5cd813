// Room compile: where libmneme_compile.so is and what code it would generate, told without loading
// it.
#pragma once

#include <string>

namespace mneme::compile {

/// MNEME_COMPILE_LIBRARY if set; else libmneme_compile.so next to the code that holds this
/// function, in its lib/, its ../lib or three directories up (the lib/ of an install prefix, seen
/// from the Python package); the first that exists, else the first looked for.
std::string compileLibraryPath();

/// libmneme_compile_plugins.so beside that one, for requests with pass plugins. Where there is none
/// it is that one itself, which may share LLVM with plugins.
std::string pluginLibraryPath();

/// MNEME_COMPILE_PROGRAM if set; else mneme-jit-compile beside the library, in ../bin of its
/// directory, or there seen from the code that holds this function; empty if there is none.
std::string compileProgramPath();

/// Changes whenever the library's code changes: its GNU build id, or size and modification time for
/// a library without one. Empty when the file cannot be read.
std::string libraryIdentity(const std::string& path);

/// Changes whenever code for "cpu" may: processor brand, model and feature bits (cpuid), the
/// register state the system saves; on other architectures the first block of /proc/cpuinfo.
const std::string& hostIdentity();

} // namespace mneme::compile
