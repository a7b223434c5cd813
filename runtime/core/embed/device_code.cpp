#include "runtime/core/embed/device_code.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/embed/ptx_member.h"

namespace mneme::embed {
namespace {

/// 90 of "sm_90a"; nothing if there is no number in it.
std::optional<unsigned> numberIn(std::string_view architecture) {
  const size_t begin = architecture.find_first_of("0123456789");
  if (begin == std::string_view::npos)
    return std::nullopt;
  unsigned number = 0;
  std::from_chars(architecture.data() + begin, architecture.data() + architecture.size(), number);
  return number;
}

std::string namesOf(const std::vector<FatMember>& members) {
  std::string names;
  for (const FatMember& member : members) {
    names += names.empty() ? "" : ", ";
    names += std::string(formName(member.form)) + " (" + member.target() + ")";
  }
  return names.empty() ? "no code" : names;
}

/// Machine code before PTX, the newer before the older, what is for this GPU alone before what is
/// for others as well.
bool isBetter(const FatMember& one, const FatMember& other) {
  const auto rank = [](const FatMember& member) {
    return std::tuple(member.form == CodeForm::Cubin, member.architecture, member.variant != 0);
  };
  return rank(one) > rank(other);
}

/// Null if none of these forms runs there.
const FatMember* best(const std::vector<FatMember>& members, std::string_view architecture,
                      bool isPtxOnly) {
  const std::optional<unsigned> wanted = numberIn(architecture);
  const FatMember* found = nullptr;
  for (const FatMember& member : members) {
    const bool isCode =
        member.form == CodeForm::Ptx || (member.form == CodeForm::Cubin && !isPtxOnly);
    if (isCode && (!wanted || member.runsOn(*wanted)) && (!found || isBetter(member, *found)))
      found = &member;
  }
  return found;
}

const FatMember& choose(const std::vector<FatMember>& members, std::string_view architecture) {
  if (const FatMember* chosen = best(members, architecture, /*isPtxOnly=*/false))
    return *chosen;
  const std::string gpu(architecture.empty() ? "any GPU" : architecture);
  throw Error(ErrorCode::Unsupported, "the fat binary has neither machine code nor PTX for " + gpu +
                                          ", but " + namesOf(members));
}

DeviceCode readSingle(Bytes image) {
  if (std::optional<DeviceCode> code = readCubin(image))
    return *std::move(code);
  if (std::optional<DeviceCode> code = readPtx(image))
    return *std::move(code);
  if (elf::isElf(image))
    throw Error(ErrorCode::ArtifactCorrupt,
                "the device code is an ELF file, but not a whole cubin");
  throw Error(ErrorCode::Unsupported,
              "the device code is neither a fat binary nor a cubin nor PTX text");
}

} // namespace

const char* formName(CodeForm form) noexcept {
  switch (form) {
  case CodeForm::Cubin:
    return "cubin";
  case CodeForm::Ptx:
    return "PTX";
  case CodeForm::LtoIr:
    return "LTO-IR";
  case CodeForm::Unknown:
    break;
  }
  return "unknown";
}

const DeviceKernel* DeviceCode::find(std::string_view kernel) const noexcept {
  const auto found = std::ranges::find(kernels, kernel, &DeviceKernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

namespace {

std::vector<std::byte> contentOf(const FatMember& chosen, uint64_t mostBytes) {
  const uint64_t sizeBytes = chosen.isCompressed ? chosen.rawBytes : chosen.stored.size();
  if (sizeBytes > mostBytes)
    throw Error(ErrorCode::Unsupported, "the code for " + chosen.target() + " has " +
                                            std::to_string(sizeBytes >> 20) + " MiB, more than " +
                                            std::to_string(mostBytes >> 20) + " MiB");
  return chosen.content();
}

} // namespace

std::vector<std::byte> memberFor(Bytes image, std::string_view architecture, uint64_t mostBytes) {
  if (!isFatBinary(image))
    return {image.begin(), image.end()};
  const std::vector<FatMember> members = fatBinaryMembers(image);
  return contentOf(choose(members, architecture), mostBytes);
}

std::optional<std::vector<std::byte>> ptxFor(Bytes image, std::string_view architecture) {
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  if (!isFatBinary(image))
    return std::nullopt;
  const std::vector<FatMember> members = fatBinaryMembers(image);
  const FatMember* chosen = best(members, architecture, /*isPtxOnly=*/true);
  return chosen ? std::optional(contentOf(*chosen, kMostBytes)) : std::nullopt;
}

DeviceCode readDeviceCode(Bytes image, std::string_view architecture) {
  if (!isFatBinary(image))
    return readSingle(image);
  const std::vector<FatMember> members = fatBinaryMembers(image);
  const FatMember& chosen = choose(members, architecture);
  DeviceCode code = readSingle(chosen.content());
  if (code.form == CodeForm::Cubin) // which does not tell its variant itself
    code.architecture = chosen.target();
  return code;
}

} // namespace mneme::embed
