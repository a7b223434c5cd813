#include "runtime/core/artifact/snapshot_file.h"

#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/artifact/table_codec.h"
#include "runtime/core/base/error.h"

namespace mneme::artifact {

bool readAt(int descriptor, uint64_t offset, std::span<std::byte> out) noexcept {
  while (!out.empty()) {
    const ssize_t count = pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    offset += static_cast<uint64_t>(count);
    out = out.subspan(static_cast<size_t>(count));
  }
  return true;
}

SnapshotFile openSnapshotFile(const std::filesystem::path& path) {
  SnapshotFile opened;
  opened.descriptor = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.descriptor)
    throw Error(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::IoFailed,
                systemMessage("cannot open snapshot '" + path.string() + "'", errno));
  struct stat status{};
  if (fstat(opened.descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ErrorCode::ArtifactCorrupt,
                "snapshot '" + path.string() + "' is not a regular file");
  const auto fileBytes = static_cast<uint64_t>(status.st_size);
  if (fileBytes < sizeof(SnapshotHeader))
    throw Error(ErrorCode::ArtifactCorrupt, "'" + path.string() +
                                                "' is not a mneme snapshot: it has only " +
                                                std::to_string(fileBytes) + " bytes");
  if (!readAt(opened.descriptor.get(), 0, std::as_writable_bytes(std::span(&opened.header, 1))))
    throw Error(ErrorCode::IoFailed, systemMessage("cannot read '" + path.string() + "'", errno));
  checkHeader(opened.header, fileBytes, path.string());
  return opened;
}

SnapshotTable readTable(const SnapshotFile& file, const std::filesystem::path& path) {
  std::vector<std::byte> table(file.header.tableBytes);
  if (!readAt(file.descriptor.get(), file.header.tableOffset, table))
    throw Error(ErrorCode::IoFailed, systemMessage("cannot read '" + path.string() + "'", errno));
  if (hash64(table) != file.header.tableChecksum)
    throw Error(ErrorCode::ArtifactCorrupt,
                "'" + path.string() + "' is damaged: the checksum of its table does not match");
  return decodeTable(table, file.header, path.string());
}

} // namespace mneme::artifact
