#include "tests/unit/artifact/many_kernels.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/artifact/snapshot_format.h"

namespace mneme::artifact::test {
namespace {

WriterOptions optionsFor(const std::filesystem::path& directory) {
  WriterOptions options;
  options.directory = directory;
  return options;
}

} // namespace

ManyKernels::ManyKernels(const std::filesystem::path& directory, const ManyKernelsSize& size)
    : writer(optionsFor(directory)), size_(size), buffers_(size.buffers, Stamps(size.chunks, 0)) {
  std::mt19937_64 random(3);
  for (uint64_t kernel = 0; kernel < size.kernels; ++kernel) {
    writer.addKernel(kernelRecord(kernel + 1), {});
    std::set<uint64_t>& seen = seen_.emplace_back();
    const uint64_t few = std::min(1 + random() % 8, size.buffers);
    while (seen.size() < (kernel % 10 == 0 ? size.buffers : few))
      seen.insert(random() % size.buffers);
  }
}

std::vector<uint64_t> ManyKernels::order(uint64_t instances) const {
  std::vector<uint64_t> kernels(instances);
  for (uint64_t index = 0; index < instances; ++index)
    kernels[index] = index % size_.kernels;
  kernels.back() = 0;
  std::shuffle(kernels.begin() + 1, kernels.end() - 1, std::mt19937_64(9));
  return kernels;
}

void ManyKernels::launch(uint64_t kernel, uint64_t dynamicHash) {
  InstanceDraft draft;
  draft.instance.dynamicHash = dynamicHash;
  draft.prologue = snapshot(kernel);
  const std::vector<uint64_t> seen(seen_[kernel].begin(), seen_[kernel].end());
  for (uint64_t count = 1 + random_() % 2; count > 0; --count)
    buffers_[seen[random_() % seen.size()]][random_() % size_.chunks] = ++lastStamp_;
  draft.epilogue = snapshot(kernel);
  writer.submit(kernel + 1, std::move(draft));
}

std::vector<Stamps> ManyKernels::held(uint64_t kernel) const {
  std::vector<Stamps> all;
  for (const uint64_t buffer : seen_[kernel])
    all.push_back(buffers_[buffer]);
  return all;
}

Bytes ManyKernels::contentOf(uint64_t stamp, uint32_t sizeBytes) {
  Bytes bytes(sizeBytes);
  std::memcpy(bytes.data(), &stamp, sizeof(stamp));
  return bytes;
}

SnapshotDraft ManyKernels::snapshot(uint64_t kernel) {
  SnapshotDraft draft;
  draft.id = ++lastId_;
  for (const uint64_t buffer : seen_[kernel]) {
    RegionDraft& region = draft.regions.emplace_back();
    region.region.address = 0x600000000000 + (buffer << 40);
    region.region.sizeBytes = sizeOfBuffer(size_.chunks);
    Known& known = known_[buffer];
    region.base = known.base;
    for (uint64_t chunk = 0; chunk < size_.chunks; ++chunk)
      if (!known.base || known.stamps[chunk] != buffers_[buffer][chunk])
        addChunk(draft, buffers_[buffer][chunk], chunk);
    known = {DraftBase{draft.id, draft.regions.size() - 1}, buffers_[buffer]};
  }
  return draft;
}

void ManyKernels::addChunk(SnapshotDraft& draft, uint64_t stamp, uint64_t chunk) {
  const auto bytes =
      std::make_shared<const Bytes>(contentOf(stamp, chunkSize(sizeOfBuffer(size_.chunks), chunk)));
  ChunkDraft one{chunk, hash128(*bytes), static_cast<uint32_t>(bytes->size()), stamp == 0, {}};
  if (stamp != 0 && !writer.hasChunk(one.hash)) {
    draft.storage.push_back({bytes, *bytes});
    one.bytes = *bytes;
  }
  draft.regions.back().chunks.push_back(one);
}

} // namespace mneme::artifact::test
