// Room core/embed: the fat binary container of CUDA. A header, then members one behind the other,
// each with a header of its own. Debug builds compress their members.
#include <cstring>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/member_compression.h"

namespace mneme::embed {
namespace {

constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;
constexpr uint16_t kPtxMember = 1;
constexpr uint16_t kElfMember = 2;
constexpr uint16_t kLtoIrMember = 8;

struct FatHeader {
  uint32_t magic = kFatBinaryMagic;
  uint16_t version = 1;
  uint16_t headerBytes = 16;
  uint64_t payloadBytes = 0;
};
static_assert(sizeof(FatHeader) == 16);

constexpr uint64_t kMemberAlignment = 8;
constexpr uint64_t kLz4Flag = 0x2000;
constexpr uint64_t kZstdFlag = 0x8000;
constexpr uint64_t kExactFlag = 0x100000;
constexpr uint64_t kFamilyFlag = 0x200000;

struct MemberHeader {
  uint16_t kind = 0;
  uint16_t version = 0x101;
  uint32_t headerBytes = 64;
  uint64_t payloadBytes = 0;
  uint32_t compressedBytes = 0;
  uint32_t reserved[2] = {};
  uint32_t architecture = 0;
  uint32_t nameOffset = 0;
  uint32_t nameBytes = 0;
  uint64_t flags = 0x11; ///< 64-bit addresses, Linux
  uint64_t unused = 0;
  uint64_t rawBytes = 0; ///< of a compressed member
};
static_assert(sizeof(MemberHeader) == 64);

CodeForm formOf(uint16_t kind) {
  switch (kind) {
  case kPtxMember:
    return CodeForm::Ptx;
  case kElfMember:
    return CodeForm::Cubin;
  case kLtoIrMember:
    return CodeForm::LtoIr;
  default:
    return CodeForm::Unknown;
  }
}

void visitMember(CodeForm form, Bytes content, const VisitBlob& visit) {
  if (form == CodeForm::Cubin && elf::isElf(content))
    visitElf(content, visit);
  else if (form == CodeForm::Ptx)
    visitPtx(content, visit);
}

bool isKnownCompression(uint64_t flags) { return (flags & (kZstdFlag | kLz4Flag)) != 0; }

/// Calls `visit` with the header and the payload of every member.
template <typename Visit> void visitMembers(Bytes bytes, const Visit& visit) {
  const auto header = readAt<FatHeader>(bytes, 0, "fat binary header");
  bytes = requireSlice(bytes, 0, fatBinarySize(bytes), "content");
  for (uint64_t offset = header.headerBytes; bytes.size() - offset >= sizeof(MemberHeader);) {
    const auto member = readAt<MemberHeader>(bytes, offset, "member header");
    if (member.headerBytes < sizeof(MemberHeader))
      throw Error(ErrorCode::ArtifactCorrupt,
                  "the fat binary is damaged: the header of a member makes no sense");
    offset += requireSlice(bytes, offset, member.headerBytes, "member header").size();
    const Bytes payload = requireSlice(bytes, offset, member.payloadBytes, "member");
    offset += payload.size();
    visit(member, payload);
  }
}

template <typename Value> void append(std::vector<std::byte>& bytes, const Value& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

} // namespace

bool isFatBinary(Bytes bytes) {
  return bytes.size() >= sizeof(FatHeader) &&
         readAt<FatHeader>(bytes, 0, "fat binary header").magic == kFatBinaryMagic;
}

std::optional<uint64_t> statedFatBinarySize(Bytes bytes) {
  if (!isFatBinary(bytes))
    return std::nullopt;
  auto header = readAt<FatHeader>(bytes, 0, "fat binary header");
  if (header.headerBytes < sizeof(FatHeader) ||
      header.payloadBytes > UINT64_MAX - header.headerBytes)
    return std::nullopt;
  return header.headerBytes + header.payloadBytes;
}

uint64_t fatBinarySize(Bytes bytes) {
  if (const std::optional<uint64_t> size = statedFatBinarySize(bytes))
    return *size;
  throw Error(ErrorCode::ArtifactCorrupt, "the fat binary is damaged: its header makes no sense");
}

std::string FatMember::target() const {
  const char* kind = form == CodeForm::Ptx ? "compute_" : form == CodeForm::LtoIr ? "lto_" : "sm_";
  std::string name = kind + std::to_string(architecture);
  if (variant != 0)
    name += variant;
  return name;
}

bool FatMember::runsOn(unsigned gpu) const noexcept {
  constexpr unsigned kGeneration = 10;
  const bool isSameGeneration = architecture / kGeneration == gpu / kGeneration;
  if (variant == 'a' || architecture > gpu)
    return architecture == gpu;
  return isSameGeneration || (form == CodeForm::Ptx && variant == 0);
}

std::vector<std::byte> FatMember::content() const {
  if (!isCompressed)
    return {stored.begin(), stored.end()};
  if (flags & kZstdFlag)
    return expandZstd(stored, rawBytes);
  if (flags & kLz4Flag)
    return expandLz4(stored, rawBytes);
  throw Error(ErrorCode::Unsupported,
              "a member of the fat binary is compressed in a way that is not known here");
}

std::vector<FatMember> fatBinaryMembers(Bytes bytes) {
  std::vector<FatMember> members;
  visitMembers(bytes, [&](const MemberHeader& header, Bytes payload) {
    FatMember member;
    member.form = formOf(header.kind);
    if (member.form == CodeForm::Unknown)
      return;
    member.architecture = header.architecture;
    member.variant = header.flags & kExactFlag ? 'a' : header.flags & kFamilyFlag ? 'f' : '\0';
    member.flags = header.flags;
    member.isCompressed = header.compressedBytes != 0;
    member.rawBytes = header.rawBytes;
    member.stored = member.isCompressed
                        ? requireSlice(payload, 0, header.compressedBytes, "compressed member")
                        : payload;
    members.push_back(member);
  });
  return members;
}

std::vector<std::byte> withMember(Bytes bytes, Bytes image, unsigned architecture) {
  const bool isPtx = !elf::isElf(image);
  const uint64_t sizeBytes = image.size() + (isPtx ? 1 : 0); // PTX ends with a zero
  MemberHeader member;
  member.kind = isPtx ? kPtxMember : kElfMember;
  member.payloadBytes = (sizeBytes + kMemberAlignment - 1) / kMemberAlignment * kMemberAlignment;
  member.architecture = architecture;
  std::vector<std::byte> all;
  if (bytes.empty())
    append(all, FatHeader());
  else
    all.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(fatBinarySize(bytes)));
  const uint64_t memberBytes = sizeof member + member.payloadBytes;
  const uint64_t end = all.size() + memberBytes;
  append(all, member);
  all.insert(all.end(), image.begin(), image.end());
  all.resize(end);
  auto header = readAt<FatHeader>(all, 0, "fat binary header");
  header.payloadBytes += memberBytes;
  memcpy(all.data(), &header, sizeof header);
  return all;
}

void visitFatBinary(Bytes bytes, const VisitBlob& visit) {
  for (const FatMember& member : fatBinaryMembers(bytes))
    if (!member.isCompressed)
      visitMember(member.form, member.stored, visit);
    else if (member.form != CodeForm::LtoIr && isKnownCompression(member.flags))
      visitMember(member.form, member.content(), visit);
}

} // namespace mneme::embed
