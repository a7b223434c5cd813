// Room cpu_runtime: device code that the program loads by itself and asks for by name, as
// vendors' driver APIs let it.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/cpu_runtime/core/status.h"

namespace mneme::cpu_runtime {

inline constexpr auto kFileNotFound = static_cast<Status>(301);
inline constexpr auto kNotFound = static_cast<Status>(500);

/// Takes a fat binary, a cubin, PTX or a code object at `image`, which is read when the first name
/// is asked for. `handle` receives the module. Thread-safe, as all here.
Status loadModule(void** handle, const void* image);
Status loadModuleFile(void** handle, const char* path);
Status unloadModule(void* handle);
/// Reads the module now; its image may go. False if no kernel in it carries IR. \throws
/// mneme::Error
bool carriesKernels(void* handle);

/// A kernel's handle, for every function that takes one.
Status findFunction(const void** function, void* module, const char* name);
/// A device variable with its initial value in place. \throws mneme::Error
Status findVariable(void** address, size_t* bytes, void* module, const char* name);

/// Where each argument lies in the buffer of `extra`: {1, buffer, 2, &bytes, 3}; 0 ends it, too.
Status unpackArguments(const void* function, void** extra, std::vector<void*>& args);

} // namespace mneme::cpu_runtime
