// Room bindings: reads the kernels in an executable or library.
#pragma once

#include <filesystem>
#include <vector>

#include "runtime/core/embed/kernel_blob.h"

namespace mneme::bindings {

/// Returns the kernels in the `.nv_fatbin` section of an ELF file (or in a bare fat binary or
/// device image), and the modules they may be linked with; empty if the file was not built with our
/// passes.
/// \throws Error{NotFound, IoFailed} naming the path, Error{ArtifactCorrupt} on a damaged file.
embed::BlobSet readBinaryKernels(const std::filesystem::path& path);

/// Marked host functions of an ELF file, as embed::readHostFunctions().
/// \throws as readBinaryKernels()
std::vector<embed::KernelBlob> readHostFunctions(const std::filesystem::path& path);

} // namespace mneme::bindings
