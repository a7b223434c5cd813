#include "runtime/core/artifact/snapshot_format.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "runtime/core/base/error.h"

namespace mneme::artifact {
namespace {

constexpr uint32_t kOldestVersion = 1;

uint64_t headerChecksum(const SnapshotHeader& header) {
  return hash64(
      std::as_bytes(std::span(&header, 1)).first(offsetof(SnapshotHeader, headerChecksum)));
}

} // namespace

void corrupt(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::ArtifactCorrupt, "'" + path + "' is damaged: " + what);
}

uint64_t chunkCount(uint64_t regionBytes) noexcept {
  return regionBytes / kChunkBytes + (regionBytes % kChunkBytes != 0);
}

uint32_t chunkSize(uint64_t regionBytes, uint64_t index) noexcept {
  return static_cast<uint32_t>(std::min(kChunkBytes, regionBytes - index * kChunkBytes));
}

Hash128 zeroHash(uint32_t bytes) noexcept {
  // Never destroyed: the writer may still work while the program's destructors run.
  static const std::vector<std::byte>& zeros = *new std::vector<std::byte>(kChunkBytes);
  static const Hash128 full = hash128(zeros);
  return bytes == kChunkBytes ? full : hash128(std::span(zeros).first(bytes));
}

SnapshotHeader makeHeader(uint64_t tableOffset, std::span<const std::byte> table,
                          uint32_t version) {
  SnapshotHeader header{};
  std::memcpy(header.magic, kSnapshotMagic, sizeof(kSnapshotMagic));
  header.version = version;
  header.headerBytes = sizeof(SnapshotHeader);
  header.chunkBytes = kChunkBytes;
  header.tableOffset = tableOffset;
  header.tableBytes = table.size();
  header.tableChecksum = hash64(table);
  header.fileBytes = tableOffset + table.size();
  header.headerChecksum = headerChecksum(header);
  return header;
}

void checkHeader(const SnapshotHeader& header, uint64_t fileBytes, const std::string& path) {
  if (std::memcmp(header.magic, kSnapshotMagic, sizeof(kSnapshotMagic)) != 0)
    throw Error(ErrorCode::ArtifactCorrupt, "'" + path + "' is not a mneme snapshot");
  if (header.version < kOldestVersion || header.version > kFormatVersion)
    throw Error(ErrorCode::ArtifactCorrupt,
                "'" + path + "' has snapshot format version " + std::to_string(header.version) +
                    "; this mneme reads versions " + std::to_string(kOldestVersion) + " to " +
                    std::to_string(kFormatVersion));
  if (header.headerChecksum != headerChecksum(header))
    corrupt(path, "the checksum of its header does not match");
  if (header.headerBytes != sizeof(SnapshotHeader) || header.chunkBytes != kChunkBytes)
    corrupt(path, "its header has impossible sizes");
  if (header.fileBytes != fileBytes)
    corrupt(path, "it has " + std::to_string(fileBytes) + " bytes where its header says " +
                      std::to_string(header.fileBytes) + " (truncated?)");
  if (header.tableOffset < sizeof(SnapshotHeader) || header.tableOffset > fileBytes ||
      header.tableBytes != fileBytes - header.tableOffset)
    corrupt(path, "its table lies outside the file");
}

} // namespace mneme::artifact
