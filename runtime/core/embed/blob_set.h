// Room core/embed: all blobs of a fat binary or of an image for a device.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/embed/kernel_blob.h"

namespace mneme::embed {

/// All blobs of one fat binary or device image, by kernel name. The bytes may be a fat binary
/// (magic 0xBA55ED50), an ELF image, or a fat binary wrapper's target; images of several
/// architectures are all visited and the first blob of each kernel is kept.
/// Members of an unknown kind are skipped: a binary without our blobs gives an empty result.
struct BlobSet {
  std::map<std::string, std::shared_ptr<const KernelBlob>> kernels;
  std::vector<std::shared_ptr<const KernelBlob>> modules;
  std::set<std::string> architectures; ///< of all blobs
};
/// Adds what another image of the same program has. Modules that are there already stay single: the
/// image of a unit and the one that all units were linked into have the same.
void add(BlobSet& all, BlobSet more);

/// `fatbin` points to the fat binary header in memory (the size is in its header).
/// \throws Error{ArtifactCorrupt} on damaged containers.
BlobSet readFatBinary(const void* fatbin);
/// Same, from a bounded buffer (a fat binary or an ELF file), for tests, tools and fuzzing.
BlobSet readDeviceImage(std::span<const std::byte> bytes);

/// Returns the modules to link for `kernel`: its own bitcode, then the bitcode of those module
/// blobs in `set` that define functions it calls or variables it uses, and what these call and use
/// in turn; of all, where a function is called through a pointer and other units have such
/// functions.
std::vector<std::shared_ptr<const KernelBlob>> modulesFor(const BlobSet& set,
                                                          const std::string& kernel);

} // namespace mneme::embed
