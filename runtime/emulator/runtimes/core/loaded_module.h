// Room emulator/runtimes: device code that the program loads itself and looks up by name, as the
// vendors' driver APIs allow.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/emulator/runtimes/core/status.h"

namespace mneme::cpu_runtime {

inline constexpr auto kFileNotFound = static_cast<Status>(301);
inline constexpr auto kNotFound = static_cast<Status>(500);

/// Loads a fat binary, a cubin, PTX or a code object at `image`, which is read at the first lookup
/// of a name. `handle` receives the module. All functions here are thread-safe.
Status loadModule(void** handle, const void* image);
Status loadModuleFile(void** handle, const char* path);
Status unloadModule(void* handle);
/// Reads the module now, after which its image may be freed. Returns false if no kernel in it has
/// IR. \throws mneme::Error
bool carriesKernels(void* handle);

/// Finds a kernel's handle, valid for all functions that take one.
Status findFunction(const void** function, void* module, const char* name);
/// Finds a device variable and initialises it. \throws mneme::Error
Status findVariable(void** address, size_t* bytes, void* module, const char* name);

/// Returns the address of each argument in the buffer of `extra`: {1, buffer, 2, &bytes, 3}; 0 also
/// ends the list.
Status unpackArguments(const void* function, void** extra, std::vector<void*>& args);

} // namespace mneme::cpu_runtime
