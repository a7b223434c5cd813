// Room core/embed: device code of any compiler as the CUDA driver gets it: which kernels and
// variables it has, and how arguments lie. Blobs of ours play no part here (kernel_blob.h).
//
//   readDeviceCode(imageInMemory(image), "sm_90")   // what cuModuleLoadData and others were given
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/embed/containers.h"

namespace mneme::embed {

struct DeviceParameter {
  uint64_t offset = 0; ///< in the buffer of all arguments
  uint64_t sizeBytes = 0;
  bool operator==(const DeviceParameter&) const = default;
};

struct DeviceKernel {
  std::string name; ///< mangled
  /// In order; nothing if the code does not describe all of them in a known form.
  std::optional<std::vector<DeviceParameter>> parameters;
  // Known for machine code only, not for PTX.
  std::optional<uint32_t> registers;
  std::optional<uint64_t> staticSharedBytes;
  std::optional<uint64_t> localBytes; ///< of a thread: its stack, with spilled registers in it
  std::optional<uint32_t> barriers;   ///< of a block: the highest number, plus 1
  std::map<uint32_t, uint64_t> constantBytes = {}; ///< by the number of the bank
  uint32_t registerLimit = 0; ///< that it was assembled with; 0: none but the architecture's
  uint64_t codeBytes = 0;
  uint32_t maxThreads = 0;   ///< in a block, by the kernel's launch bounds; 0: it has none
  uint32_t exactThreads = 0; ///< that every block has, which is the bound then; 0: any up to that
  /// What it reads that a recording does not hold: "clocks", "textures", "the device's heap"...
  std::set<std::string> unrecordedReads = {};
  /// Its code has nothing that writes to memory: all it can do is wait.
  bool writesNothing = false;
};

/// A variable that the code defines.
struct DeviceVariable {
  std::string name; ///< mangled
  uint64_t sizeBytes = 0;
  bool isConstant = false;
};

struct DeviceCode {
  CodeForm form = CodeForm::Unknown;
  std::string architecture; ///< "sm_90"
  std::vector<DeviceKernel> kernels;
  std::vector<DeviceVariable> variables;

  /// Null if there is no such kernel.
  const DeviceKernel* find(std::string_view kernel) const noexcept;
};

/// Returns what the driver loads from an image on a GPU of an architecture ("sm_90"): from a fat
/// binary the member it chooses, otherwise the whole. The form is that of this code.
/// \param architecture  empty: the newest in it
/// \throws Error{ArtifactCorrupt} for damaged images
/// \throws Error{Unsupported} if nothing in it is machine code or PTX for this architecture, naming
///         what there is instead (LTO-IR, other architectures)
DeviceCode readDeviceCode(Bytes image, std::string_view architecture);

/// Returns what the driver loads from an image for an architecture: of a fat binary the member it
/// chooses, expanded.
/// \throws as readDeviceCode(); Error{Unsupported} if it has more than `mostBytes`
std::vector<std::byte> memberFor(Bytes image, std::string_view architecture, uint64_t mostBytes);

/// Returns machine code's kernels and variables; nothing unless the bytes are a whole cubin: the
/// driver reads past the end of others.
std::optional<DeviceCode> readCubin(Bytes image);

/// The same for PTX, with or without a zero at its end; nothing for other text.
std::optional<DeviceCode> readPtx(Bytes text);

} // namespace mneme::embed
