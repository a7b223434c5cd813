// Room embed: the offload bundle of HIP: magic, number of entries, then per entry offset, size and
// target name. Compressed bundles are skipped.
#include <string_view>

#include "runtime/embed/containers.h"

namespace mneme::embed {
namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";

struct EntryHeader {
  uint64_t offset;
  uint64_t sizeBytes;
  uint64_t nameBytes;
};

} // namespace

bool isOffloadBundle(Bytes bytes) {
  return bytes.size() >= kBundleMagic.size() &&
         std::memcmp(bytes.data(), kBundleMagic.data(), kBundleMagic.size()) == 0;
}

void visitOffloadBundle(Bytes bytes, const VisitBlob& visit) {
  uint64_t position = kBundleMagic.size();
  auto count = readAt<uint64_t>(bytes, position, "bundle header");
  position += sizeof(count);
  for (uint64_t index = 0; index < count; ++index) {
    auto entry = readAt<EntryHeader>(bytes, position, "bundle entry");
    position += sizeof(entry);
    position += requireSlice(bytes, position, entry.nameBytes, "bundle entry name").size();
    Bytes image = requireSlice(bytes, entry.offset, entry.sizeBytes, "bundle entry");
    if (isElf(image))
      visitElf(image, visit);
  }
}

void visitImage(Bytes bytes, const VisitBlob& visit) {
  if (isFatBinary(bytes))
    visitFatBinary(bytes, visit);
  else if (isOffloadBundle(bytes))
    visitOffloadBundle(bytes, visit);
  else if (isElf(bytes))
    visitElf(bytes, visit);
  else if (isPtx(bytes))
    visitPtx(bytes, visit);
}

} // namespace mneme::embed
