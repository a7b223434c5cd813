// Small recordings for the tests of room artifact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/writer.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::artifact::test {

using mneme::test::TemporaryDirectory;
using Bytes = std::vector<std::byte>;

/// Bytes that do not compress, the same for the same seed.
Bytes noise(size_t size, uint64_t seed);

/// A snapshot of one region whose chunks carry their bytes, except those `writer` (may be null) has
/// already.
SnapshotDraft snapshotOf(uint64_t address, const Bytes& content, const RecordingWriter* writer);

KernelRecord kernelRecord(uint64_t staticHash);
InstanceDraft instanceOf(uint64_t dynamicHash, const Bytes& before, const Bytes& after,
                         const RecordingWriter* writer);

/// Writes one kernel with one instance.
void writeSmallRecording(const std::filesystem::path& directory, uint64_t staticHash,
                         uint64_t dynamicHash, const Bytes& before, const Bytes& after);

/// Content of region 0 of a snapshot.
Bytes contentOf(const std::filesystem::path& snapshot);

std::vector<std::filesystem::path> filesIn(const std::filesystem::path& directory);

} // namespace mneme::artifact::test
