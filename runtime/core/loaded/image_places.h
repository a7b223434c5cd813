// Room core/loaded: where device code lies that a program or a runtime loads, and copies of it.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "runtime/core/embed/code_image.h"

namespace mneme::loaded {

/// File names of the libraries of kernels that CUDA comes with begin so: they hold code for many
/// GPUs, and no IR.
inline constexpr std::array kKernelLibraries = {
    "libcublas", "libcudnn", "libcufft", "libcurand", "libcusolver", "libcusparse", "libnccl"};

/// Whether device code lies in the program's own file or one of its libraries, where nothing is
/// written: it is not in a buffer of the program's, which may hold other code later.
bool isBuiltIn(const void* image) noexcept;
/// The same for what a handle's owner was given, which may be a wrapper of the code.
bool staysInPlace(const void* image) noexcept;
/// Whether device code lies in a library whose file name has one of these prefixes.
bool isOfLibrary(const void* image, std::span<const char* const> prefixes) noexcept;

/// Copies the code for GPUs of one architecture from a vendor's library that holds code for many.
/// \throws Error{ArtifactCorrupt, Unsupported}
embed::CodeImage imageOfVendor(const void* fatBinary, std::string_view architecture);

} // namespace mneme::loaded
