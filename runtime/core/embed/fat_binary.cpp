// Room core/embed: the fat binary container of CUDA. A header, then members one behind the other,
// each with a header of its own. Debug builds compress their members.
#include "runtime/core/base/elf_file.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/member_compression.h"

namespace mneme::embed {
namespace {

constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;
constexpr uint16_t kPtxMember = 1;
constexpr uint16_t kElfMember = 2;

struct FatHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t headerBytes;
  uint64_t payloadBytes;
};
static_assert(sizeof(FatHeader) == 16);

constexpr uint64_t kLz4Flag = 0x2000;
constexpr uint64_t kZstdFlag = 0x8000;

struct MemberHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t headerBytes;
  uint64_t payloadBytes;
  uint32_t compressedBytes;
  uint32_t reserved[2];
  uint32_t architecture;
  uint32_t nameOffset;
  uint32_t nameBytes;
  uint64_t flags;
  uint64_t unused;
  uint64_t rawBytes; ///< of a compressed member
};
static_assert(sizeof(MemberHeader) == 64);

void visitMember(uint16_t kind, Bytes content, const VisitBlob& visit) {
  if (kind == kElfMember && elf::isElf(content))
    visitElf(content, visit);
  else if (kind == kPtxMember)
    visitPtx(content, visit);
}

void visitCompressed(const MemberHeader& member, Bytes payload, const VisitBlob& visit) {
  if (member.kind != kElfMember && member.kind != kPtxMember)
    return;
  Bytes packed = requireSlice(payload, 0, member.compressedBytes, "compressed member");
  if (member.flags & kZstdFlag)
    visitMember(member.kind, expandZstd(packed, member.rawBytes), visit);
  else if (member.flags & kLz4Flag)
    visitMember(member.kind, expandLz4(packed, member.rawBytes), visit);
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

void visitFatBinary(Bytes bytes, const VisitBlob& visit) {
  auto header = readAt<FatHeader>(bytes, 0, "fat binary header");
  bytes = requireSlice(bytes, 0, fatBinarySize(bytes), "content");
  for (uint64_t offset = header.headerBytes; bytes.size() - offset >= sizeof(MemberHeader);) {
    auto member = readAt<MemberHeader>(bytes, offset, "member header");
    if (member.headerBytes < sizeof(MemberHeader))
      throw Error(ErrorCode::ArtifactCorrupt,
                  "the fat binary is damaged: the header of a member makes no sense");
    offset += requireSlice(bytes, offset, member.headerBytes, "member header").size();
    Bytes payload = requireSlice(bytes, offset, member.payloadBytes, "member");
    offset += payload.size();
    if (member.compressedBytes != 0)
      visitCompressed(member, payload, visit);
    else
      visitMember(member.kind, payload, visit);
  }
}

} // namespace mneme::embed
