// Room core/embed: reads the containers that blobs are stored in. Each reader calls `visit` with
// the bytes of every blob (not yet parsed) and its kind: a kernel, or a unit's shared code. All
// throw Error{ArtifactCorrupt} for impossible offsets or sizes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "runtime/core/abi/blob_format.h"
#include "runtime/core/embed/byte_view.h"

namespace mneme::embed {

/// CodeObject is a whole code object without blobs that contains its IR (carried_kernels.h).
enum class BlobKind { Kernel, Module, CodeObject };
using VisitBlob = std::function<void(BlobKind, Bytes)>;

/// Returns the kind of blob that a symbol of this name holds; nothing if it holds none.
std::optional<BlobKind> blobKindOfSymbol(std::string_view name);

/// 64-bit little-endian ELF (cubin or AMD GPU code object).
void visitElf(Bytes image, const VisitBlob& visit);

/// True for text that starts like PTX: blanks and comments, then `.version`.
bool isPtx(Bytes bytes);
/// PTX: a blob is the initialiser of a `.global .b8` array.
void visitPtx(Bytes text, const VisitBlob& visit);

/// Fat binaries of CUDA programs are in a section of this name.
inline constexpr const char* kFatBinarySection = ".nv_fatbin";
bool isFatBinary(Bytes bytes);
/// Returns the size in the header of a fat binary; nothing if there is no header, or it is damaged.
std::optional<uint64_t> statedFatBinarySize(Bytes bytes);
/// Returns the size of a fat binary, from its header of at least 16 bytes. \throws as above for bad
/// headers.
uint64_t fatBinarySize(Bytes header);
void visitFatBinary(Bytes bytes, const VisitBlob& visit);

/// What device code is written in.
enum class CodeForm { Unknown, Cubin, Ptx, LtoIr };
/// "cubin", "PTX", "LTO-IR", "unknown".
const char* formName(CodeForm form) noexcept;

/// A member of a fat binary.
struct FatMember {
  CodeForm form = CodeForm::Unknown;
  unsigned architecture = 0; ///< 90
  /// 'a': for GPUs of exactly this architecture; 'f': for its family; 0 otherwise.
  char variant = 0;
  uint64_t flags = 0;
  Bytes stored; ///< in the fat binary
  bool isCompressed = false;
  uint64_t rawBytes = 0; ///< of a compressed member

  /// As nvcc calls it: "sm_90a", "compute_90" for PTX, "lto_90" for LTO-IR.
  std::string target() const;
  /// Whether a GPU of this architecture (90) can run it: machine code of the same generation that
  /// is not newer, or PTX that is not newer (CUDA C++ Programming Guide, "Application
  /// Compatibility").
  bool runsOn(unsigned gpu) const noexcept;
  /// Returns what it holds, expanded. \throws as above, and Error{Unsupported} for an unknown
  /// compression
  std::vector<std::byte> content() const;
};
/// Returns what is in a fat binary that a GPU can run, or that can be made into such. \throws as
/// above
std::vector<FatMember> fatBinaryMembers(Bytes bytes);
/// Returns a fat binary with the members of `bytes` (empty: none) and one more: machine code, or
/// PTX text. \throws as above
std::vector<std::byte> withMember(Bytes bytes, Bytes image, unsigned architecture);

/// Bundles of code objects of HIP programs are in a section of this name: one per translation unit,
/// each at the start of a page.
inline constexpr const char* kBundleSection = ".hip_fatbin";
bool isOffloadBundle(Bytes bytes);
void visitOffloadBundle(Bytes bytes, const VisitBlob& visit);

/// Visits the code objects in it.
void visitCodeObjects(Bytes bundle, const std::function<void(Bytes)>& visit);

/// The same for compressed bundles (`--offload-compress`). Unknown versions and methods give
/// nothing.
bool isCompressedBundle(Bytes bytes);
/// Returns the size of a compressed bundle, from its header of at least 32 bytes; 0 if unknown.
uint64_t compressedBundleSize(Bytes header);
void visitCompressedBundle(Bytes bytes, const VisitBlob& visit);
/// Returns the bundle in it; empty if its version or method is unknown.
std::vector<std::byte> expandBundle(Bytes compressed);

/// Whether executables hold device code in a section of this name.
inline bool isDeviceCodeSection(std::string_view name) {
  return name == kFatBinarySection || name == kBundleSection;
}
/// Whether the names that a program imports or exports (`.dynstr`) include a vendor's function that
/// registers device code. The program is then linked to the vendor's shared runtime.
inline bool namesRegistration(std::string_view names) {
  return names.find("__cudaRegisterFatBinary") != names.npos ||
         names.find("__hipRegisterFatBinary") != names.npos;
}

/// Marked host functions are in a section of this name (readHostFunctions()).
inline constexpr const char* kHostFunctionSection = kHostSection;

/// Returns the whole image that starts at `address`, or that the wrapper of a fat binary there
/// points to; empty if its kind is unknown. The sizes in the image's headers must be right, and a
/// text must end with a zero: nothing else bounds the read.
Bytes imageInMemory(const void* address);

/// Visits an image of any of these kinds.
void visitImage(Bytes bytes, const VisitBlob& visit);

} // namespace mneme::embed
