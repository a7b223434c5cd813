#include "tests/unit/artifact/fixtures.h"

#include <algorithm>
#include <random>

#include "runtime/core/artifact/snapshot.h"

namespace mneme::artifact::test {

Bytes noise(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random());
  return bytes;
}

SnapshotDraft snapshotOf(uint64_t address, const Bytes& content, const RecordingWriter* writer) {
  SnapshotDraft snapshot;
  const auto copy = std::make_shared<const Bytes>(content);
  snapshot.storage.push_back({copy, *copy});
  RegionDraft draft;
  draft.region.address = address;
  draft.region.sizeBytes = content.size();
  for (size_t offset = 0; offset < content.size(); offset += kChunkBytes) {
    const auto part =
        std::span(*copy).subspan(offset, std::min<size_t>(kChunkBytes, content.size() - offset));
    ChunkDraft chunk;
    chunk.index = offset / kChunkBytes;
    chunk.hash = hash128(part);
    chunk.rawBytes = static_cast<uint32_t>(part.size());
    chunk.isZero =
        std::all_of(part.begin(), part.end(), [](std::byte b) { return b == std::byte{}; });
    if (!chunk.isZero && !(writer && writer->hasChunk(chunk.hash)))
      chunk.bytes = part;
    draft.chunks.push_back(chunk);
  }
  snapshot.regions.push_back(std::move(draft));
  return snapshot;
}

KernelRecord kernelRecord(uint64_t staticHash) {
  KernelRecord record;
  record.staticHash = staticHash;
  record.kernelName = "_Z5scalePfi";
  record.demangledName = "scale(float*, int)";
  record.windowAddress = 0x600000000000;
  record.windowBytes = 1ull << 32;
  record.args = {{"data", "ptr", 8, 8, ArgKind::Pointer},
                 {"count", "i32", 4, 4, ArgKind::Integer, true}};
  record.optionsJson = R"({"fast_math":false,"fp_contract":"on"})";
  record.arch = "sm_90";
  record.device = "cpu";
  return record;
}

InstanceDraft instanceOf(uint64_t dynamicHash, const Bytes& before, const Bytes& after,
                         const RecordingWriter* writer) {
  InstanceDraft draft;
  draft.instance.dynamicHash = dynamicHash;
  draft.instance.grid = {8, 2, 1};
  draft.instance.block = {128, 1, 1};
  draft.instance.sharedBytes = 1024;
  draft.instance.recordedNs = 4711;
  draft.prologue = snapshotOf(0x600000000000, before, writer);
  draft.prologue.args = {noise(8, 1), noise(4, 2)};
  draft.epilogue = snapshotOf(0x600000000000, after, writer);
  for (size_t chunk = 0; chunk < draft.epilogue.regions[0].chunks.size(); ++chunk)
    for (const ChunkDraft& earlier : draft.prologue.regions[0].chunks)
      if (earlier.hash == draft.epilogue.regions[0].chunks[chunk].hash)
        draft.epilogue.regions[0].chunks[chunk].bytes = {};
  return draft;
}

void writeSmallRecording(const std::filesystem::path& directory, uint64_t staticHash,
                         uint64_t dynamicHash, const Bytes& before, const Bytes& after) {
  WriterOptions options;
  options.directory = directory;
  RecordingWriter writer(options);
  writer.addKernel(kernelRecord(staticHash), {noise(500, staticHash)});
  writer.submit(staticHash, instanceOf(dynamicHash, before, after, &writer));
  writer.finish();
}

Bytes contentOf(const std::filesystem::path& path) {
  const Snapshot snapshot = Snapshot::open(path);
  Bytes content(snapshot.regions().at(0).sizeBytes);
  snapshot.read(0, 0, content);
  return content;
}

std::vector<std::filesystem::path> filesIn(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace mneme::artifact::test
