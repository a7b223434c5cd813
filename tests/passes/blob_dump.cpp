// Test tool: prints what readDeviceImage finds. An executable or object is searched for fat
// binaries.
//   mneme_blob_dump FILE          one line of metadata for each blob, sorted by kernel
//   mneme_blob_dump FILE KERNEL   the bitcode of a kernel ("" for shared code) on stdout
//   mneme_blob_dump --code FILE   kernels and variables of device code of any compiler
#include <cstdio>
#include <cstring>
#include <exception>

#include "runtime/core/base/file.h"
#include "runtime/core/embed/blob_set.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/device_code.h"

namespace {

using mneme::Bytes;
using mneme::embed::BlobSet;

void merge(BlobSet& into, const BlobSet& from) {
  into.kernels.insert(from.kernels.begin(), from.kernels.end());
  into.modules.insert(into.modules.end(), from.modules.begin(), from.modules.end());
}

/// Visits every place where a container of device code begins.
template <typename Visit> void visitContainers(Bytes bytes, const Visit& visit) {
  for (size_t offset = 0; offset + 24 < bytes.size(); offset += 8)
    if (Bytes rest = bytes.subspan(offset); mneme::embed::isFatBinary(rest) ||
                                            mneme::embed::isOffloadBundle(rest) ||
                                            mneme::embed::isCompressedBundle(rest))
      visit(rest);
}

BlobSet readAnything(Bytes bytes) {
  BlobSet set = mneme::embed::readDeviceImage(bytes);
  visitContainers(bytes,
                  [&](Bytes container) { merge(set, mneme::embed::readDeviceImage(container)); });
  return set;
}

void print(const mneme::embed::DeviceCode& code) {
  std::printf("%s %s\n", mneme::embed::formName(code.form), code.architecture.c_str());
  for (const auto& kernel : code.kernels) {
    std::printf("  kernel %s(", kernel.name.c_str());
    if (kernel.parameters)
      for (const auto& [offset, sizeBytes] : *kernel.parameters)
        std::printf("%s%llu at %llu", offset ? ", " : "",
                    static_cast<unsigned long long>(sizeBytes),
                    static_cast<unsigned long long>(offset));
    std::printf("%s)", kernel.parameters ? "" : "unknown");
    if (kernel.registers)
      std::printf(" registers %u", *kernel.registers);
    if (kernel.staticSharedBytes)
      std::printf(" shared %llu", static_cast<unsigned long long>(*kernel.staticSharedBytes));
    std::printf(kernel.maxThreads ? " threads %u\n" : "\n", kernel.maxThreads);
  }
  for (const auto& variable : code.variables)
    std::printf("  %s %s %llu\n", variable.isConstant ? "constant" : "variable",
                variable.name.c_str(), static_cast<unsigned long long>(variable.sizeBytes));
}

void printMembers(Bytes fatBinary) {
  for (const mneme::embed::FatMember& member : mneme::embed::fatBinaryMembers(fatBinary)) {
    std::printf("member %s%s: ", member.target().c_str(), member.isCompressed ? " (packed)" : "");
    if (member.form == mneme::embed::CodeForm::LtoIr)
      std::printf("LTO-IR\n");
    else
      print(mneme::embed::readDeviceCode(member.content(), ""));
  }
}

int printCode(Bytes bytes) {
  const bool isCode = mneme::embed::isPtx(bytes) || mneme::embed::readCubin(bytes);
  if (isCode)
    print(mneme::embed::readDeviceCode(bytes, ""));
  else
    visitContainers(bytes, printMembers);
  return 0;
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
    std::fprintf(stderr, "usage: mneme_blob_dump FILE [KERNEL] | --code FILE\n");
    return 2;
  }
  try {
    if (std::string(argv[1]) == "--code" && argc == 3)
      return printCode(mneme::readFile(argv[2]));
    BlobSet set = readAnything(mneme::readFile(argv[1]));
    return argc == 2 ? dump(set) : extract(set, argv[2]);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
