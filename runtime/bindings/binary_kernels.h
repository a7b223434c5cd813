// Room bindings: reads the kernels in an executable or library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/core/embed/blob_set.h"
#include "runtime/core/embed/device_code.h"

namespace mneme::bindings {

/// Returns the kernels in the `.nv_fatbin` section of an ELF file (or in a bare fat binary or
/// device image), and the modules they may be linked with; empty if the file was not built with our
/// passes.
/// \throws Error{NotFound, IoFailed} naming the path, Error{ArtifactCorrupt} on a damaged file.
embed::BlobSet readBinaryKernels(const std::filesystem::path& path);

/// Device code of any compiler: a fat binary of a program, or a file of its own.
struct FoundCode {
  std::vector<std::string> members; ///< of a fat binary: "cubin sm_90", "PTX compute_90", ...
  embed::DeviceCode code;           ///< what the driver would load
  std::string problem;              ///< why there is none
};
/// Returns the code of a fat binary, cubin or PTX in memory, as the function below.
FoundCode codeIn(Bytes image, const std::string& architecture);
/// Returns the code in the `.nv_fatbin` sections of an ELF file, or in a fat binary, cubin or PTX.
/// \param architecture  of the GPU ("sm_90"); empty: the newest
/// \throws Error{NotFound, IoFailed} naming the path
std::vector<FoundCode> readDeviceCode(const std::filesystem::path& path,
                                      const std::string& architecture);

/// Marked host functions of an ELF file, as embed::readHostFunctions().
/// \throws as readBinaryKernels()
std::vector<embed::KernelBlob> readHostFunctions(const std::filesystem::path& path);

} // namespace mneme::bindings
