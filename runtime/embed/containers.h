// Room embed: the containers blobs are found in. Each reader calls `visit` with the bytes of every
// blob (not yet parsed) and whether it belongs to a kernel or is a unit's shared code.
// \throws Error{ArtifactCorrupt} from all of them, when offsets or sizes make no sense.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "runtime/abi/blob_format.h"
#include "runtime/embed/byte_view.h"

namespace mneme::embed {

/// CodeObject: a whole code object without blobs that carries its IR (carried_kernels.h).
enum class BlobKind { Kernel, Module, CodeObject };
using VisitBlob = std::function<void(BlobKind, Bytes)>;

/// Kind of blob a symbol of this name holds; nothing if it holds none.
std::optional<BlobKind> blobKindOfSymbol(std::string_view name);

bool isElf(Bytes bytes);
/// 64-bit little-endian ELF (cubin or AMD GPU code object).
void visitElf(Bytes image, const VisitBlob& visit);

/// True for text that starts like PTX: comments, then `.version`.
bool isPtx(Bytes bytes);
/// PTX: a blob is the initialiser of a `.global .b8` array.
void visitPtx(Bytes text, const VisitBlob& visit);

/// Fat binaries of CUDA programs are in a section of this name.
inline constexpr const char* kFatBinarySection = ".nv_fatbin";
bool isFatBinary(Bytes bytes);
/// What the header of a fat binary says of its size; nothing if there is none, or it is damaged.
std::optional<uint64_t> statedFatBinarySize(Bytes bytes);
/// Bytes of a fat binary, from its header of at least 16 bytes. \throws as above for bad headers.
uint64_t fatBinarySize(Bytes header);
void visitFatBinary(Bytes bytes, const VisitBlob& visit);

/// The bundle of code objects HIP programs carry: in a section of this name, one for each
/// translation unit, each at the start of a page.
inline constexpr const char* kBundleSection = ".hip_fatbin";
bool isOffloadBundle(Bytes bytes);
void visitOffloadBundle(Bytes bytes, const VisitBlob& visit);

/// Visits the code objects in it.
void visitCodeObjects(Bytes bundle, const std::function<void(Bytes)>& visit);

/// The same, compressed (`--offload-compress`). Unknown versions and methods hold nothing.
bool isCompressedBundle(Bytes bytes);
/// Bytes of a compressed bundle, from its header of at least 32 bytes; 0 if unknown.
uint64_t compressedBundleSize(Bytes header);
void visitCompressedBundle(Bytes bytes, const VisitBlob& visit);
/// The bundle in it; empty if unknown.
std::vector<std::byte> expandBundle(Bytes compressed);

/// Whether executables hold device code in a section of this name.
inline bool isDeviceCodeSection(std::string_view name) {
  return name == kFatBinarySection || name == kBundleSection;
}
/// Whether the names a program imports or exports (`.dynstr`) have a vendor's function that
/// registers device code: it then is linked to the vendor's shared runtime.
inline bool namesRegistration(std::string_view names) {
  return names.find("__cudaRegisterFatBinary") != names.npos ||
         names.find("__hipRegisterFatBinary") != names.npos;
}

/// Marked host functions are in a section of this name (readHostFunctions()).
inline constexpr const char* kHostFunctionSection = kHostSection;

/// The whole image that starts at `address`; empty for an unknown one. The memory must hold what
/// the image's own headers say, or a text with the zero that ends it.
Bytes imageInMemory(const void* address);

/// Any of the above.
void visitImage(Bytes bytes, const VisitBlob& visit);

} // namespace mneme::embed
