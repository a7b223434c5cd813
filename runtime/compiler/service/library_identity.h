// Room compiler: finds libmneme_compile.so and identifies the code it would generate, without
// loading it.
#pragma once

#include <string>

namespace mneme::compile {

/// Returns MNEME_COMPILE_LIBRARY if set. Otherwise returns the first libmneme_compile.so that
/// exists next to the code of this function, in its lib/, its ../lib or three directories up (the
/// lib/ of an install prefix, seen from the Python package), else the first of these paths.
std::string compileLibraryPath();

/// Returns libmneme_compile_plugins.so next to that library, for requests with pass plugins; if it
/// does not exist, the library itself, which may share LLVM with plugins.
std::string pluginLibraryPath();

/// Returns MNEME_COMPILE_PROGRAM if set, else mneme-jit-compile next to the library or this
/// function's code, or in their ../bin; empty if there is none.
std::string compileProgramPath();

/// Returns a text that changes whenever the library's code changes: its GNU build id, or size and
/// modification time if it has none. Empty if the file cannot be read.
std::string libraryIdentity(const std::string& path);

/// The same for the compiler process: the library at this path and, if MNEME_COMPILE_PROGRAM names
/// one, another program than ours. Empty as libraryIdentity().
std::string compilerIdentity(const std::string& library);

/// Returns a text that changes whenever code for "cpu" may: processor brand, model and feature bits
/// (cpuid), the register state the system saves; on other architectures the first block of
/// /proc/cpuinfo.
const std::string& hostIdentity();

} // namespace mneme::compile
