#include "tests/unit/replay/recording_maker.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

#include "runtime/core/artifact/writer.h"
#include "tests/unit/replay/kernels.h"

namespace mneme::test {

namespace {

void addRegion(artifact::SnapshotDraft& snapshot, const artifact::Region& region, Bytes content) {
  const auto owner = std::make_shared<const Bytes>(std::move(content));
  const std::span<const std::byte> bytes(*owner);
  artifact::RegionDraft draft{region, {}, {}};
  draft.region.sizeBytes = bytes.size();
  for (size_t at = 0; at < bytes.size(); at += artifact::kChunkBytes) {
    const size_t size = std::min<size_t>(artifact::kChunkBytes, bytes.size() - at);
    artifact::ChunkDraft chunk;
    chunk.index = at / artifact::kChunkBytes;
    chunk.bytes = bytes.subspan(at, size);
    chunk.rawBytes = size;
    chunk.hash = hash128(chunk.bytes);
    chunk.isZero = std::all_of(chunk.bytes.begin(), chunk.bytes.end(),
                               [](std::byte b) { return b == std::byte{0}; });
    if (chunk.isZero)
      chunk.bytes = {};
    draft.chunks.push_back(chunk);
  }
  snapshot.storage.push_back({owner, bytes});
  snapshot.regions.push_back(std::move(draft));
}

} // namespace

void RecordingPlan::addRegion(uint64_t address, Bytes before, Bytes after) {
  artifact::Region region;
  region.address = address;
  regions.push_back({region, std::move(before), std::move(after)});
}

void RecordingPlan::addGlobal(const std::string& name, uint64_t address, Bytes before,
                              Bytes after) {
  addRegion(address, std::move(before), std::move(after));
  regions.back().region.kind = artifact::RegionKind::Global;
  regions.back().region.name = name;
}

void RecordingPlan::addPointer(const std::string& name, uint64_t address) {
  args.push_back({name, "ptr", 8, 8, ArgKind::Pointer});
  values.push_back(bytesOfOne(address));
}

void RecordingPlan::addScalar(const std::string& name, const std::string& type, Bytes value) {
  args.push_back({name, type, value.size(), value.size(),
                  type[0] == 'i' ? ArgKind::Integer : ArgKind::Float, true});
  values.push_back(std::move(value));
}

std::filesystem::path writeRecording(const std::filesystem::path& directory,
                                     const RecordingPlan& plan) {
  artifact::RecordingWriter writer({.directory = directory});
  artifact::KernelRecord record;
  record.staticHash = kStaticHash;
  record.kernelName = record.demangledName = plan.kernel;
  record.windowAddress = plan.windowAddress;
  record.windowBytes = plan.windowBytes;
  record.args = plan.args;
  record.device = "cpu";
  record.arch = "sm_90";
  writer.addKernel(record, {bytesOfText(plan.ir)});
  artifact::InstanceDraft instance;
  instance.instance.dynamicHash = plan.dynamicHash;
  instance.instance.grid = plan.grid;
  instance.instance.block = plan.block;
  instance.instance.heap = plan.heap;
  instance.prologue.args = plan.values;
  for (const RegionPlan& region : plan.regions) {
    addRegion(instance.prologue, region.region, region.before);
    addRegion(instance.epilogue, region.region, region.after);
  }
  writer.submit(kStaticHash, std::move(instance));
  writer.finish();
  return directory / (std::to_string(kStaticHash) + ".json");
}

RecordingPlan scalePlan(uint32_t count) {
  std::vector<float> in(count), out(count, -1.0f), scaled(count);
  for (uint32_t i = 0; i < count; ++i) {
    in[i] = 0.25f * static_cast<float>(i) + 1.1f;
    scaled[i] = in[i] * 3.5f;
  }
  RecordingPlan plan{.kernel = "scale", .ir = kScale};
  plan.addRegion(kScaleIn, bytesOf(in), bytesOf(in));
  plan.addRegion(kScaleOut, bytesOf(out), bytesOf(scaled));
  plan.addPointer("in", kScaleIn);
  plan.addPointer("out", kScaleOut);
  plan.addScalar("n", "i32", bytesOfOne(count));
  plan.addScalar("factor", "float", bytesOfOne(3.5f));
  plan.block = {64, 1, 1};
  plan.grid = {(count + 63) / 64, 1, 1};
  return plan;
}

std::string testDevice() {
  const char* device = std::getenv("MNEME_TEST_DEVICE");
  return device && *device ? device : "cpu";
}

replay::Result replayOnce(const RecordingPlan& plan, const std::string& ir,
                          replay::Options options) {
  TemporaryDirectory directory;
  replay::Session session(writeRecording(directory.path(), plan), "", testDevice());
  options.ir = bytesOfText(ir);
  return session.run(session.recorded(), options);
}

} // namespace mneme::test
