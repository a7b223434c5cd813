// Room core/artifact: what a recording directory holds, as values. Knows bytes and regions, not
// devices.
//
// A recording directory is in one of these states, and a reader can tell which from the files
// alone:
//   - `<static hash>.json` lists only finished instances: every snapshot it names is complete and
//     synced, and was renamed into place before the JSON was replaced (by one rename).
//   - `*.tmp-<pid>-<n>` are unfinished files of a recording that still runs or was killed; no JSON
//     names them and readers ignore them.
//   - `<static hash>.unmerged-<n>.json` is a record whose instances could not be added to
//     `<static hash>.json` because that could not be read. The next session that can read it adds
//     them.
//   - `unfinished-<pid>.session` exists while a session records and lists what it could not record
//     (lost instances, lossy reasons). A clean end removes it if nothing was lost. If its process
//     is gone, the session was killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/abi/argument.h"
#include "runtime/core/abi/cache_config.h"
#include "runtime/core/abi/context_limits.h"
#include "runtime/core/abi/source_place.h"
#include "runtime/core/abi/texture_object.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/word_ranges.h"

namespace mneme::artifact {

/// Increased with every change that old readers cannot understand. tests/golden has a recording of
/// each version.
inline constexpr uint32_t kFormatVersion = 2;

/// Thrown for a file that a newer mneme has written: it is not damaged, but this version cannot
/// read it.
class NewerFormat : public Error {
public:
  explicit NewerFormat(const std::string& message) : Error(ErrorCode::ArtifactCorrupt, message) {}
};

/// Unit of deduplication and checksums, in bytes; the last chunk of a region may be shorter.
inline constexpr uint64_t kChunkBytes = 64 * 1024;

/// Tolerance metadata of one region: the fields of mneme/MnemeAnnotation.hpp.
struct Annotation {
  bool isSet = false;
  uint8_t dataType = 0; ///< device::DataType
  double threshold = 0.0;
  uint8_t thresholdKind = 0; ///< device::ThresholdKind
  uint8_t norm = 0;          ///< device::Norm
  std::string tag;
  bool operator==(const Annotation&) const = default;
};

/// Bytes of a region that have metadata of their own.
struct AnnotatedPart {
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  Annotation annotation;
  bool operator==(const AnnotatedPart&) const = default;
};

enum class RegionKind : uint8_t { Allocation = 0, Managed = 1, HostPinned = 2, Global = 3 };

/// A contiguous range of memory that the kernel could access.
struct Region {
  uint64_t address = 0; ///< recorded device address
  uint64_t sizeBytes = 0;
  RegionKind kind = RegionKind::Allocation;
  bool isConstant = false;
  std::string name; ///< device name of a global, else empty
  Annotation annotation;
  std::vector<AnnotatedPart> parts = {}; ///< ascending, without overlaps
  bool operator==(const Region&) const = default;
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// What was left out of a launch since it was recorded: "Trimmed".
struct Trimming {
  uint64_t memoryBytes = 0; ///< of all regions, as recorded
  uint64_t unreadBytes =
      0;     ///< of that, what the launch does not read: zeros, or no region any more
  Dim3 grid; ///< as recorded
  uint64_t dynamicHash = 0; ///< of the recorded launch
};

/// How many of a device's multiprocessors a launch may use; 0 of 0 if it may use all of them.
struct DevicePart {
  uint32_t multiprocessors = 0;
  uint32_t of = 0;
  bool operator==(const DevicePart&) const = default;
};

/// One recorded launch of a kernel.
struct Instance {
  uint64_t dynamicHash = 0;
  Dim3 grid, block;
  uint64_t sharedBytes = 0; ///< dynamic
  bool isCooperative = false;
  Dim3 cluster; ///< blocks per thread block cluster; "ClusterDims" in the file unless 1x1x1
  /// What the program had set: percent of the L1 cache, 1 for as little as possible; 0: nothing,
  /// and then not in the file. "SharedCarveout"
  uint32_t sharedCarveout = 0;
  /// What the program had set for the kernel, or else for its context. "CacheConfig"
  CacheConfig cacheConfig = CacheConfig::None;
  uint64_t occurrences = 1; ///< launches with this dynamic hash, recorded or not
  std::string prologue;     ///< file name in the directory, or a path to a file elsewhere
  std::string epilogue;
  uint64_t recordedNs = 0;         ///< execution time of the recorded launch, 0 if unknown
  std::vector<std::string> labels; ///< that the program gave it, the outermost first
  DevicePart part;                 ///< "Multiprocessors" in the file unless it is the whole device
  ContextLimits limits;            ///< that the program had set; "Limits" in the file, if any
  std::optional<Trimming> trimming = std::nullopt;
  /// On a GPU: the texture and surface objects that the launch can see; their content is memory of
  /// the snapshots. "Textures"
  std::vector<TextureObject> textures = {};
  /// The heap of a GPU, if the launch reaches what other kernels have allocated: memory of the
  /// snapshots that the device has at this place by itself. "DeviceHeap"
  AddressRange heap = {};
};

/// Code of a kernel as its program's own compiler made it, beside the IR: "Images".
struct RecordedImage {
  std::string form; ///< as KernelRecord::codeForm
  std::string file; ///< "RecordedCode_<static hash>.<form>"
  std::string hash; ///< Hash128 in hex
  /// Null until KernelRecord::readImages().
  std::shared_ptr<const std::vector<std::byte>> content = nullptr;
};

/// One kernel, as in its file `<static hash>.json`, whose fields docs/artifacts.md describes.
/// "Checksum" is the XXH3_64 (hex) of the compact JSON without that field. A file whose checksum
/// does not match is refused; a file without one, as the existing tools write it, is accepted.
struct KernelRecord {
  uint64_t staticHash = 0;
  uint64_t codeHash = 0; ///< as in KernelBlob
  std::string kernelName;
  std::string demangledName;
  SourcePlace place;                ///< "Place"
  uint64_t windowAddress = 0;       ///< "VAddr"
  uint64_t windowBytes = 0;         ///< "VASize"
  std::vector<std::string> modules; ///< "RecordedIR_<static hash>.bc", ...
  /// What the only module is if it is no IR: "cubin", "ptx", "fatbin", "cpu". "CodeForm"
  std::string codeForm;
  std::vector<RecordedImage> images;     ///< of each form at most one
  std::vector<std::string> moduleHashes; ///< Hash128 of each module in hex; empty in foreign files
  std::vector<KernelArg> args;           ///< the file has no alignments
  std::string optionsJson; ///< ahead-of-time code generation options (blob metadata "options")
  std::string arch;        ///< "sm_90"
  std::string device;      ///< "cpu", "cuda:0": where it was recorded
  /// Launches of this kernel in the recorded run, with any hash; 0 if unknown.
  uint64_t launches = 0;
  std::map<uint64_t, Instance> instances;

  /// \throws Error{NotFound, IoFailed, ArtifactCorrupt} naming file and field; NewerFormat. Accepts
  /// files written by the existing tools ("Args" of any kind, no extras).
  static KernelRecord load(const std::filesystem::path& json);
  std::string toJson() const;

  /// Reads module `index` from the record's directory and checks it against its hash.
  /// \throws Error{NotFound, ArtifactCorrupt, OutOfRange} naming the file.
  std::vector<std::byte> readModule(const std::filesystem::path& directory, size_t index) const;

  /// Reads the images and checks them against their hashes. \throws as readModule()
  void readImages(const std::filesystem::path& directory);
  /// Null if there is none of this form.
  const RecordedImage* imageOf(std::string_view form) const noexcept;
};

} // namespace mneme::artifact
