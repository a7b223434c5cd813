// Test tool: prints what readDeviceImage finds. An executable or object is searched for fat
// binaries.
//   mneme_blob_dump FILE          one line of metadata for each blob, sorted by kernel
//   mneme_blob_dump FILE KERNEL   the bitcode of a kernel ("" for shared code) on stdout
#include <cstdio>
#include <cstring>
#include <exception>

#include "runtime/core/base/file.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/kernel_blob.h"

namespace {

using mneme::Bytes;
using mneme::embed::BlobSet;

void merge(BlobSet& into, const BlobSet& from) {
  into.kernels.insert(from.kernels.begin(), from.kernels.end());
  into.modules.insert(into.modules.end(), from.modules.begin(), from.modules.end());
}

BlobSet readAnything(Bytes bytes) {
  BlobSet set = mneme::embed::readDeviceImage(bytes);
  for (size_t offset = 0; offset + 24 < bytes.size(); offset += 8)
    if (Bytes rest = bytes.subspan(offset); mneme::embed::isFatBinary(rest) ||
                                            mneme::embed::isOffloadBundle(rest) ||
                                            mneme::embed::isCompressedBundle(rest))
      merge(set, mneme::embed::readDeviceImage(rest));
  return set;
}

int dump(const BlobSet& set) {
  for (const auto& [name, blob] : set.kernels)
    std::printf("%s\n", blob->metadataJson.c_str());
  for (const auto& blob : set.modules)
    std::printf("%s\n", blob->metadataJson.c_str());
  return 0;
}

int extract(const BlobSet& set, const std::string& kernel) {
  auto found = set.kernels.find(kernel);
  if (kernel.empty() ? set.modules.empty() : found == set.kernels.end()) {
    std::fprintf(stderr, "no blob of '%s'\n", kernel.c_str());
    return 1;
  }
  const auto& bitcode = kernel.empty() ? set.modules.front()->bitcode : found->second->bitcode;
  std::fwrite(bitcode.data(), 1, bitcode.size(), stdout);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: mneme_blob_dump FILE [KERNEL]\n");
    return 2;
  }
  try {
    BlobSet set = readAnything(mneme::readFile(argv[1]));
    return argc == 2 ? dump(set) : extract(set, argv[2]);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
