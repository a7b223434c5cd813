// Room core/embed: device code as a program gives it to its driver, which need not carry our IR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/embed/blob_set.h"
#include "runtime/core/embed/byte_view.h"
#include "runtime/core/embed/device_code.h"

namespace mneme::embed {

/// An image for the CPU device, which runs nowhere else.
inline constexpr std::string_view kCpuForm = "cpu";

/// Returns what an image is: "cubin", "ptx", "fatbin", kCpuForm; empty for anything else.
std::string_view formOf(Bytes image);

/// A copy of an image: programs may free theirs.
struct CodeImage {
  std::shared_ptr<const std::vector<std::byte>> bytes;
  std::string form; ///< empty: none, there are no bytes
  uint64_t contentHash = 0;
};
CodeImage copyImage(Bytes image);

/// Reads it for a device of this architecture. \throws as readDeviceCode()
DeviceCode readCode(const CodeImage& image, std::string_view architecture);

/// Describes a kernel of the image by what is known without IR. Words of eight bytes, which may be
/// pointers or numbers, are of an unknown kind.
/// \param code  of the image
KernelBlob withoutIr(const CodeImage& image, const DeviceCode& code, const std::string& kernel,
                     const std::vector<DeviceParameter>& parameters);

/// Returns the kernel of an image for the CPU device; none for other images. \throws
/// Error{ArtifactCorrupt} for damaged ones
BlobSet readCpuKernel(Bytes image);

} // namespace mneme::embed
