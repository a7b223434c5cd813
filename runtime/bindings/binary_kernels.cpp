#include "runtime/bindings/binary_kernels.h"

#include <cstring>
#include <elf.h>
#include <optional>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/embed/containers.h"

namespace mneme::bindings {

namespace {

using embed::Bytes;

constexpr uint64_t kBundleAlignment = 4096;
constexpr uint64_t kFatBinaryAlignment = 8;
constexpr uint64_t kLargestProgram = uint64_t{16} << 30;

template <typename Value> bool readAt(Bytes file, uint64_t offset, Value& value) {
  if (offset > file.size() || sizeof value > file.size() - offset)
    return false;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return true;
}

bool isName(Bytes names, uint64_t offset, const char* wanted) {
  const size_t length = std::strlen(wanted) + 1;
  const std::optional<Bytes> name = embed::slice(names, offset, length);
  return name && std::memcmp(name->data(), wanted, length) == 0;
}

struct Sections {
  std::vector<Bytes> fatBinaries;
  std::vector<Bytes> bundles; ///< of HIP
  Bytes hostFunctions;
};

/// The sections of a host ELF file that hold code with blobs.
Sections sectionsOf(Bytes file) {
  Elf64_Ehdr head;
  Sections found;
  if (!readAt(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr))
    return found;
  const auto section = [&](uint64_t index, Elf64_Shdr& header) {
    return readAt(file, head.e_shoff + index * sizeof(Elf64_Shdr), header);
  };
  Elf64_Shdr names, header;
  if (!section(head.e_shstrndx, names))
    return found;
  const std::optional<Bytes> nameBytes = embed::slice(file, names.sh_offset, names.sh_size);
  for (uint64_t i = 0; nameBytes && i < head.e_shnum && section(i, header); ++i) {
    const std::optional<Bytes> content = embed::slice(file, header.sh_offset, header.sh_size);
    if (!content)
      continue;
    if (isName(*nameBytes, header.sh_name, embed::kFatBinarySection) ||
        isName(*nameBytes, header.sh_name, "__nv_relfatbin"))
      found.fatBinaries.push_back(*content);
    else if (isName(*nameBytes, header.sh_name, embed::kBundleSection))
      found.bundles.push_back(*content);
    else if (isName(*nameBytes, header.sh_name, embed::kHostFunctionSection))
      found.hostFunctions = *content;
  }
  return found;
}

/// A section is a row of fat binaries with padding between them.
std::vector<Bytes> splitFatBinaries(Bytes section) {
  std::vector<Bytes> found;
  uint64_t step = 0;
  for (uint64_t offset = 0; offset < section.size(); offset += step) {
    const std::optional<uint64_t> size = embed::statedFatBinarySize(section.subspan(offset));
    const std::optional<Bytes> whole = embed::slice(section, offset, size.value_or(0));
    if (size && whole)
      found.push_back(*whole);
    step = size && whole
               ? (*size + kFatBinaryAlignment - 1) / kFatBinaryAlignment * kFatBinaryAlignment
               : kFatBinaryAlignment;
  }
  return found;
}

/// A section is a row of bundles, each at the start of a page. What follows one does no harm to it.
std::vector<Bytes> splitBundles(Bytes section) {
  std::vector<Bytes> found;
  for (uint64_t offset = 0; offset < section.size(); offset += kBundleAlignment)
    if (const Bytes rest = section.subspan(offset);
        embed::isOffloadBundle(rest) || embed::isCompressedBundle(rest))
      found.push_back(rest);
  return found;
}

embed::BlobSet blobsIn(Bytes file) {
  std::vector<Bytes> images;
  const Sections sections = sectionsOf(file);
  for (const Bytes& section : sections.fatBinaries)
    for (const Bytes& image : splitFatBinaries(section))
      images.push_back(image);
  for (const Bytes& section : sections.bundles)
    for (const Bytes& image : splitBundles(section))
      images.push_back(image);
  if (images.empty())
    images.push_back(file);
  embed::BlobSet all;
  for (const Bytes& image : images) {
    embed::BlobSet one = embed::readDeviceImage(image);
    all.kernels.merge(one.kernels);
    all.modules.insert(all.modules.end(), one.modules.begin(), one.modules.end());
  }
  return all;
}

/// What `read` makes of the file; its errors name it.
template <typename Read> auto readNamed(const std::filesystem::path& path, Read&& read) {
  try {
    return read(readFile(path, kLargestProgram));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::OutOfRange) // names the file
      throw Error(ErrorCode::ArtifactCorrupt, error.what());
    if (error.code() == ErrorCode::ArtifactCorrupt || error.code() == ErrorCode::Unsupported)
      throw Error(error.code(), "'" + path.string() + "': " + error.what());
    throw;
  }
}

} // namespace

embed::BlobSet readBinaryKernels(const std::filesystem::path& path) {
  return readNamed(path, blobsIn);
}

std::vector<embed::KernelBlob> readHostFunctions(const std::filesystem::path& path) {
  return readNamed(
      path, [](Bytes file) { return embed::readHostFunctions(sectionsOf(file).hostFunctions); });
}

} // namespace mneme::bindings
