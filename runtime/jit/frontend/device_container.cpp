#include "runtime/jit/frontend/device_container.h"

#include <cstdint>
#include <string_view>

#include "runtime/core/base/elf_file.h"

namespace mneme::frontend {
namespace {

using Bytes = std::vector<std::byte>;

template <typename Value> void add(Bytes& bytes, const Value& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

void add(Bytes& bytes, std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), begin, begin + text.size());
}

// As runtime/core/embed/fat_binary.cpp reads them.
struct FatHeader {
  uint32_t magic = 0xBA55ED50;
  uint16_t version = 1;
  uint16_t headerBytes = 16;
  uint64_t payloadBytes = 0;
};

struct MemberHeader {
  uint16_t kind = 0; ///< 1: PTX, 2: machine code
  uint16_t version = 0x101;
  uint32_t headerBytes = 64;
  uint64_t payloadBytes = 0;
  uint32_t compressedBytes = 0;
  uint16_t unknown = 0;
  uint16_t toolsMinor = 0;
  uint16_t toolsMajor = 0;
  uint16_t reserved = 0;
  uint32_t architecture = 0;
  uint32_t nameOffset = 0;
  uint32_t nameBytes = 0;
  uint64_t flags = 0x11; ///< 64-bit addresses, Linux
  uint64_t unused = 0;
  uint64_t rawBytes = 0;
};
static_assert(sizeof(MemberHeader) == 64);

constexpr uint64_t kMemberAlignment = 8;
constexpr uint64_t kCodeObjectAlignment = 4096;

} // namespace

Bytes fatBinaryWith(std::span<const std::byte> image, unsigned arch) {
  const bool isMachineCode = elf::isElf(image);
  // PTX ends with a zero.
  const uint64_t wanted = image.size() + (isMachineCode ? 0 : 1);
  const uint64_t padded = (wanted + kMemberAlignment - 1) / kMemberAlignment * kMemberAlignment;
  FatHeader header;
  header.payloadBytes = sizeof(MemberHeader) + padded;
  MemberHeader member;
  member.kind = isMachineCode ? 2 : 1;
  member.payloadBytes = padded;
  member.architecture = arch;
  Bytes bytes;
  add(bytes, header);
  add(bytes, member);
  bytes.insert(bytes.end(), image.begin(), image.end());
  bytes.resize(sizeof header + header.payloadBytes);
  return bytes;
}

Bytes bundleWith(std::span<const std::byte> image, const std::string& targetId) {
  constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
  constexpr std::string_view kHost = "host-x86_64-unknown-linux-gnu-";
  const std::string device = "hipv4-amdgcn-amd-amdhsa--" + targetId;
  Bytes bytes;
  add(bytes, kMagic);
  add(bytes, uint64_t{2});
  for (const std::string_view name : {kHost, std::string_view(device)}) {
    add(bytes, kCodeObjectAlignment);
    add(bytes, uint64_t{name == kHost ? 0 : image.size()});
    add(bytes, uint64_t{name.size()});
    add(bytes, name);
  }
  bytes.resize(kCodeObjectAlignment);
  bytes.insert(bytes.end(), image.begin(), image.end());
  return bytes;
}

std::vector<std::string> kernelsInCubin(std::span<const std::byte> image) {
  constexpr std::string_view kParameters = ".nv.constant0.";
  std::vector<std::string> kernels;
  if (const auto file = elf::File::in(image))
    for (const elf::Section& section : file->sections())
      if (section.name.starts_with(kParameters))
        kernels.emplace_back(section.name.substr(kParameters.size()));
  return kernels;
}

} // namespace mneme::frontend
