// The artifact room at the scale of device memory, without a device: writes a recording of
// synthetic live memory and instances that change a share of it, then opens and reads it. Prints
// JSON.
//   bench_artifact_scale [GiB of live memory, default 2] [directory, default .] [instances, default
//   20]
//                        [changed share, default 0.01]
// Half of the memory is noise, a quarter floats with short mantissas, an eighth small integers, an
// eighth zero. Chunks are told apart by their content alone, so N GiB need N GiB of memory and,
// with the compressible parts compressed, somewhat less of disk.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/artifact/writer.h"

namespace {

using namespace mneme;
using namespace mneme::artifact;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct SplitMix {
  uint64_t state;
  uint64_t operator()() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
};

void fill(std::span<std::byte> chunk, uint64_t index, uint64_t round) {
  SplitMix random{index << 20 | round};
  const auto put = [&](size_t at, const auto& value) {
    std::memcpy(chunk.data() + at, &value, sizeof(value));
  };
  const uint64_t kind = index % 8;
  for (size_t at = 0; at + 8 <= chunk.size(); at += 8) {
    const uint64_t bits = random();
    if (kind < 4)
      put(at, bits);
    else if (kind < 6)
      put(at, static_cast<double>(bits % 4096) * 0.25);
    else if (kind == 6)
      put(at, bits & 0xff);
    else
      put(at, round == 0 ? uint64_t{0} : bits & 0xffff);
  }
}

/// Memory of `chunks` chunks filled by several threads.
template <typename Body> void onAllCores(uint64_t count, const Body& body) {
  std::vector<std::thread> threads;
  const uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (uint64_t core = 0; core < cores; ++core)
    threads.emplace_back([&, core] {
      for (uint64_t index = core; index < count; index += cores)
        body(index);
    });
  for (std::thread& thread : threads)
    thread.join();
}

using Memory = std::shared_ptr<std::byte[]>;

/// A draft of chunks whose contents lie one behind the other in `memory`.
void addChunks(SnapshotDraft& draft, const Memory& memory, const std::vector<uint64_t>& indexes) {
  RegionDraft& region = draft.regions.front();
  region.chunks.resize(indexes.size());
  onAllCores(indexes.size(), [&](uint64_t at) {
    const std::span<const std::byte> bytes(memory.get() + at * kChunkBytes, kChunkBytes);
    ChunkDraft& chunk = region.chunks[at];
    chunk = {indexes[at], hash128(bytes), static_cast<uint32_t>(kChunkBytes), false, bytes};
    if (bytes.front() == std::byte{} &&
        std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0) {
      chunk.isZero = true;
      chunk.bytes = {};
    }
  });
  // Slabs of 16 MiB, as a capture through pinned staging has them.
  constexpr uint64_t slabChunks = 256;
  for (uint64_t first = 0; first < indexes.size(); first += slabChunks)
    draft.storage.push_back(
        {memory,
         {memory.get() + first * kChunkBytes,
          std::min<uint64_t>(slabChunks, indexes.size() - first) * kChunkBytes}});
}

SnapshotDraft draftOf(uint64_t id, uint64_t sizeBytes) {
  SnapshotDraft draft;
  draft.id = id;
  draft.regions.resize(1);
  draft.regions[0].region.address = 0x600000000000;
  draft.regions[0].region.sizeBytes = sizeBytes;
  if (id > 1)
    draft.regions[0].base = DraftBase{id - 1, 0};
  return draft;
}

struct Recorded {
  double firstQuerySeconds = 0;
  double firstSubmitSeconds = 0;
  double laterSubmitSeconds = 0; ///< the longest
  double finishSeconds = 0;
  uint64_t changedBytes = 0;
  WriterStatistics statistics;
};

Recorded record(const std::filesystem::path& directory, uint64_t chunks, uint64_t instances,
                double share) {
  Recorded result;
  Memory memory(static_cast<std::byte*>(std::malloc(chunks * kChunkBytes)), std::free);
  std::vector<uint64_t> all(chunks);
  for (uint64_t index = 0; index < chunks; ++index)
    all[index] = index;
  onAllCores(chunks, [&](uint64_t index) {
    fill({memory.get() + index * kChunkBytes, kChunkBytes}, index, 0);
  });
  WriterOptions options;
  options.directory = directory;
  RecordingWriter writer(options);
  KernelRecord kernel;
  kernel.staticHash = 1;
  writer.addKernel(kernel, {});
  std::mt19937_64 random(1);
  uint64_t id = 0;
  const auto begin = Clock::now();
  for (uint64_t instance = 0; instance < instances; ++instance) {
    InstanceDraft draft;
    draft.instance.dynamicHash = instance;
    draft.prologue = draftOf(++id, chunks * kChunkBytes);
    if (instance == 0) {
      addChunks(draft.prologue, memory, all);
      std::vector<Hash128> hashes;
      for (const ChunkDraft& chunk : draft.prologue.regions[0].chunks)
        hashes.push_back(chunk.hash);
      const auto query = Clock::now();
      writer.hasChunks(hashes);
      result.firstQuerySeconds = secondsSince(query);
      memory.reset();
    }
    draft.epilogue = draftOf(++id, chunks * kChunkBytes);
    std::vector<uint64_t> changed(
        std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(chunks) * share)));
    for (uint64_t& index : changed)
      index = random() % chunks;
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    Memory fresh(static_cast<std::byte*>(std::malloc(changed.size() * kChunkBytes)), std::free);
    onAllCores(changed.size(), [&](uint64_t at) {
      fill({fresh.get() + at * kChunkBytes, kChunkBytes}, changed[at], instance + 1);
    });
    addChunks(draft.epilogue, fresh, changed);
    result.changedBytes += changed.size() * kChunkBytes;
    const auto submit = Clock::now();
    writer.submit(1, std::move(draft));
    (instance == 0 ? result.firstSubmitSeconds : result.laterSubmitSeconds) =
        std::max(secondsSince(submit), instance == 0 ? 0.0 : result.laterSubmitSeconds);
  }
  writer.finish();
  result.finishSeconds = secondsSince(begin);
  result.statistics = writer.statistics();
  return result;
}

/// Reads a whole region in pieces, as an upload does.
double read(const Snapshot& snapshot) {
  std::vector<std::byte> piece(64 << 20);
  const uint64_t size = snapshot.regions().at(0).sizeBytes;
  const auto begin = Clock::now();
  for (uint64_t offset = 0; offset < size; offset += piece.size())
    snapshot.read(0, offset,
                  std::span(piece).first(std::min<uint64_t>(piece.size(), size - offset)));
  return secondsSince(begin);
}

} // namespace

int main(int argc, char** argv) {
  const double gib = argc > 1 ? std::atof(argv[1]) : 2;
  const std::filesystem::path directory = std::filesystem::path(argc > 2 ? argv[2] : ".") /
                                          ("bench-artifact-" + std::to_string(getpid()));
  const uint64_t instances = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 20;
  const double share = argc > 4 ? std::atof(argv[4]) : 0.01;
  const auto chunks = static_cast<uint64_t>(gib * (1ull << 30) / kChunkBytes);
  const Recorded recorded = record(directory, chunks, instances, share);
  for (const std::string& loss : recorded.statistics.losses)
    std::fprintf(stderr, "%s\n", loss.c_str());

  const KernelRecord kernel = KernelRecord::load(directory / "1.json");
  uint64_t files = 0, prologueBytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    files += std::filesystem::file_size(entry.path());
  prologueBytes = std::filesystem::file_size(directory / kernel.instances.at(0).prologue);
  const Instance& last = kernel.instances.at(instances - 1);
  auto begin = Clock::now();
  Snapshot::open(directory / kernel.instances.at(0).prologue);
  const double openFirst = secondsSince(begin);
  begin = Clock::now();
  const Snapshot prologue = Snapshot::open(directory / last.prologue);
  const double openLast = secondsSince(begin);
  const Snapshot epilogue = Snapshot::open(directory / last.epilogue);
  begin = Clock::now();
  const size_t ranges = changedRanges(prologue, epilogue, 0).size();
  const double diffSeconds = secondsSince(begin);
  const double readSeconds = read(epilogue);
  const uint64_t liveBytes = chunks * kChunkBytes;
  std::printf(
      "{\n"
      "  \"live_bytes\": %llu,\n  \"instances\": %llu,\n  \"changed_bytes\": %llu,\n"
      "  \"written\": %llu,\n  \"lost\": %llu,\n"
      "  \"unique_bytes\": %llu,\n  \"stored_bytes\": %llu,\n"
      "  \"first_prologue_bytes\": %llu,\n"
      "  \"has_chunks_s\": %.4f,\n  \"first_submit_s\": %.4f,\n"
      "  \"later_submit_max_s\": %.4f,\n  \"wait_s\": %.3f,\n"
      "  \"until_finished_s\": %.2f,\n  \"written_gb_per_s\": %.2f,\n"
      "  \"open_first_s\": %.4f,\n  \"open_last_s\": %.4f,\n"
      "  \"changed_ranges\": %zu,\n  \"changed_ranges_s\": %.5f,\n"
      "  \"read_gb_per_s\": %.2f\n}\n",
      static_cast<unsigned long long>(liveBytes), static_cast<unsigned long long>(instances),
      static_cast<unsigned long long>(recorded.changedBytes),
      static_cast<unsigned long long>(recorded.statistics.instancesWritten),
      static_cast<unsigned long long>(recorded.statistics.instancesLost),
      static_cast<unsigned long long>(recorded.statistics.uniqueBytes),
      static_cast<unsigned long long>(files), static_cast<unsigned long long>(prologueBytes),
      recorded.firstQuerySeconds, recorded.firstSubmitSeconds, recorded.laterSubmitSeconds,
      static_cast<double>(recorded.statistics.waitNs) * 1e-9, recorded.finishSeconds,
      static_cast<double>(liveBytes + recorded.changedBytes) * 1e-9 / recorded.finishSeconds,
      openFirst, openLast, ranges, diffSeconds,
      static_cast<double>(liveBytes) * 1e-9 / readSeconds);
  std::filesystem::remove_all(directory);
  return 0;
}
