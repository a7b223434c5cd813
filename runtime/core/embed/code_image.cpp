#include "runtime/core/embed/code_image.h"

#include <nlohmann/json.hpp>

#include "runtime/core/base/demangled.h"
#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/cpu_code.h"

namespace mneme::embed {
namespace {

constexpr uint64_t kWordBytes = 8;

constexpr uint64_t kMostAlignment = 128; // of a parameter

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// A parameter behind one that ends at `end`. A word may be a pointer or a number: nothing says
/// which.
KernelArg argOf(const DeviceParameter& place, uint64_t end) {
  uint64_t alignment = kMostAlignment;
  while (alignment > 1 && roundUp(end, alignment) != place.offset)
    alignment /= 2;
  KernelArg arg{.sizeBytes = place.sizeBytes, .alignBytes = alignment};
  if (place.sizeBytes != kWordBytes) {
    const bool isWhole = place.sizeBytes < kWordBytes;
    arg.kind = isWhole ? ArgKind::Integer : ArgKind::Aggregate;
    arg.type = isWhole ? "i" + std::to_string(place.sizeBytes * 8) : "bytes";
  }
  return arg;
}

} // namespace

std::string_view formOf(Bytes image) {
  if (isFatBinary(image))
    return "fatbin";
  if (isPtx(image))
    return "ptx";
  if (isCpuImage(image))
    return kCpuForm;
  const auto file = elf::isElf64(image) ? elf::File::in(image) : std::nullopt;
  return file && file->header().e_machine == EM_CUDA ? "cubin" : "";
}

CodeImage copyImage(Bytes image) {
  CodeImage copy;
  copy.form = formOf(image);
  if (copy.form.empty())
    return copy;
  copy.bytes = std::make_shared<const std::vector<std::byte>>(image.begin(), image.end());
  copy.contentHash = hash64(image);
  return copy;
}

DeviceCode readCode(const CodeImage& image, std::string_view architecture) {
  if (image.form == kCpuForm)
    return require(readCpuImage(*image.bytes), "kernel description");
  return readDeviceCode(*image.bytes, architecture);
}

namespace {

/// As the passes write it, of what is known.
std::string metadataOf(const DeviceKernel* kernel) {
  nlohmann::json metadata = nlohmann::json::object();
  if (kernel && !kernel->unrecordedReads.empty())
    metadata["options"] = {{"unrecorded_reads", kernel->unrecordedReads}};
  if (kernel && kernel->writesNothing)
    metadata["writes_nothing"] = true;
  return metadata.dump();
}

} // namespace

KernelBlob withoutIr(const CodeImage& image, const DeviceCode& code, const std::string& kernel,
                     const std::vector<DeviceParameter>& parameters) {
  KernelBlob blob;
  blob.kernel = kernel;
  blob.demangled = demangled(kernel);
  blob.staticHash = combineHashes(image.contentHash, hash64(kernel));
  blob.arch = code.architecture;
  uint64_t end = 0;
  for (const DeviceParameter& place : parameters) {
    blob.args.push_back(argOf(place, end));
    end = place.offset + place.sizeBytes;
  }
  for (const DeviceVariable& variable : code.variables)
    blob.globals.push_back({.name = variable.name,
                            .sizeBytes = variable.sizeBytes,
                            .isConstant = variable.isConstant});
  const DeviceKernel* const found = code.find(kernel);
  if (found) {
    blob.sharedBytes = found->staticSharedBytes.value_or(0);
    blob.maxThreads = found->maxThreads;
  }
  blob.isCodeRead = found != nullptr;
  blob.metadataJson = metadataOf(found);
  blob.image = image.bytes;
  blob.imageForm = image.form;
  return blob;
}

BlobSet readCpuKernel(Bytes bytes) {
  BlobSet set;
  if (!isCpuImage(bytes))
    return set;
  const CodeImage image = copyImage(bytes);
  const DeviceCode code = readCode(image, {});
  const DeviceKernel& kernel = code.kernels.at(0);
  set.kernels[kernel.name] =
      std::make_shared<const KernelBlob>(withoutIr(image, code, kernel.name, *kernel.parameters));
  return set;
}

} // namespace mneme::embed
