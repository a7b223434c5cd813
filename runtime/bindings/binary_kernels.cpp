#include "runtime/bindings/binary_kernels.h"

#include <optional>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/embed/containers.h"

namespace mneme::bindings {

namespace {

constexpr uint64_t kBundleAlignment = 4096;
constexpr uint64_t kFatBinaryAlignment = 8;
constexpr uint64_t kLargestProgram = uint64_t{16} << 30;

struct Sections {
  std::vector<Bytes> fatBinaries;
  std::vector<Bytes> bundles; ///< of HIP
  Bytes hostFunctions;
};

/// The sections of a host ELF file that hold code with blobs.
Sections sectionsOf(Bytes bytes) {
  Sections found;
  const std::optional<elf::File> file = elf::File::in(bytes);
  if (!file)
    return found;
  for (const elf::Section& section : file->sections()) {
    const std::optional<Bytes> content = file->content(section);
    if (!content)
      continue;
    if (section.name == embed::kFatBinarySection || section.name == "__nv_relfatbin")
      found.fatBinaries.push_back(*content);
    else if (section.name == embed::kBundleSection)
      found.bundles.push_back(*content);
    else if (section.name == embed::kHostFunctionSection)
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
    const std::optional<Bytes> whole = slice(section, offset, size.value_or(0));
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

std::vector<FoundCode> allCodeIn(Bytes file, const std::string& architecture) {
  std::vector<FoundCode> found;
  for (const Bytes& section : sectionsOf(file).fatBinaries)
    for (const Bytes& image : splitFatBinaries(section))
      found.push_back(codeIn(image, architecture));
  const bool isProgram = elf::isElf(file) && !embed::readCubin(file);
  if (found.empty() && !isProgram)
    found.push_back(codeIn(file, architecture));
  return found;
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

FoundCode codeIn(Bytes image, const std::string& architecture) {
  FoundCode found;
  try {
    if (embed::isFatBinary(image))
      for (const embed::FatMember& member : embed::fatBinaryMembers(image))
        found.members.push_back(std::string(embed::formName(member.form)) + " " + member.target());
    found.code = embed::readDeviceCode(image, architecture);
  } catch (const Error& error) {
    found.problem = error.what();
  }
  return found;
}

embed::BlobSet readBinaryKernels(const std::filesystem::path& path) {
  return readNamed(path, blobsIn);
}

std::vector<FoundCode> readDeviceCode(const std::filesystem::path& path,
                                      const std::string& architecture) {
  return readNamed(path, [&](Bytes file) { return allCodeIn(file, architecture); });
}

std::vector<embed::KernelBlob> readHostFunctions(const std::filesystem::path& path) {
  return readNamed(
      path, [](Bytes file) { return embed::readHostFunctions(sectionsOf(file).hostFunctions); });
}

} // namespace mneme::bindings
