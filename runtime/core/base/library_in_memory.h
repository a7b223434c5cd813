// Room core/base: loads shared objects that are not files.
#pragma once

#include <cstddef>
#include <span>

namespace mneme {

/// Loads a shared object from memory (RTLD_NOW | RTLD_LOCAL) without using the application's
/// descriptors. Loading equal bytes twice gives two libraries. The caller owns the handle and
/// closes it with closeLibraryInMemory().
/// \throws Error{CompileFailed} with the loader's own message
void* openLibraryInMemory(std::span<const std::byte> object);

/// The same for code of the application. Its constructors run on this thread with the application's
/// descriptors; loading uses one of these if there is one left.
/// \throws Error{CompileFailed} with the loader's own message
void* openApplicationLibrary(std::span<const std::byte> object);

void closeLibraryInMemory(void* handle) noexcept;

} // namespace mneme
