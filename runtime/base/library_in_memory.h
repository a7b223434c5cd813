// Room base: shared objects that are no files.
#pragma once

#include <cstddef>
#include <span>

namespace mneme {

/// Loads a shared object from memory (RTLD_NOW | RTLD_LOCAL), out of the way of the application's
/// descriptors. Two loads of equal bytes are two libraries. The handle is the caller's; give it
/// back with closeLibraryInMemory().
/// \throws Error{CompileFailed} with the loader's own message
void* openLibraryInMemory(std::span<const std::byte> object);

/// The same for code of the application, whose constructors it runs: on this thread and with the
/// application's descriptors, of which it takes one for as long as it lasts if there is one left.
/// \throws Error{CompileFailed} with the loader's own message
void* openApplicationLibrary(std::span<const std::byte> object);

void closeLibraryInMemory(void* handle) noexcept;

} // namespace mneme
