// How many files a snapshot needs, however many a recording holds.
#include <algorithm>
#include <cstring>
#include <map>

#include <doctest/doctest.h>

#include "runtime/core/artifact/needed_files.h"
#include "runtime/core/artifact/snapshot.h"
#include "tests/unit/artifact/many_kernels.h"

namespace mneme::artifact::test {
namespace {

constexpr uint64_t kInstances = 2000;

/// What opening an instance reads.
struct Opened {
  uint64_t tables = 0;
  uint64_t tableBytes = 0;
};

Opened open(const std::filesystem::path& directory, const Instance& instance) {
  const SnapshotSizes before = Snapshot::open(directory / instance.prologue).sizes();
  const SnapshotSizes after = Snapshot::open(directory / instance.epilogue).sizes();
  return {before.tables + after.tables, before.tableBytes + after.tableBytes};
}

void checkSnapshot(const std::filesystem::path& path, const std::vector<Stamps>& expected,
                   bool isRead) {
  const Snapshot snapshot = Snapshot::open(path);
  CHECK(snapshot.neededFiles().size() <= kMaxNeededFiles);
  REQUIRE(snapshot.regions().size() == expected.size());
  Bytes content(ManyKernels::sizeOfBuffer(expected[0].size()));
  for (size_t region = 0; region < expected.size(); ++region) {
    const std::vector<Hash128> hashes = snapshot.chunkHashes(region);
    if (isRead)
      snapshot.read(region, 0, content);
    for (uint64_t chunk = 0; chunk < expected[region].size(); ++chunk) {
      const Bytes wanted = ManyKernels::contentOf(
          expected[region][chunk],
          chunkSize(ManyKernels::sizeOfBuffer(expected[region].size()), chunk));
      CHECK(hashes[chunk] == hash128(wanted));
      CHECK((!isRead ||
             std::memcmp(content.data() + chunk * kChunkBytes, wanted.data(), wanted.size()) == 0));
    }
  }
}

/// A layer with one region of `chunks` stored chunks, of which the first `own` are its own.
RegionChain layerOf(const std::string& name, uint64_t chunks, uint64_t own, RegionChain base) {
  auto layer = std::make_shared<Layer>();
  layer->name = name;
  TableRegion& region = layer->table.regions.emplace_back();
  region.region.sizeBytes = chunks * kChunkBytes;
  for (uint64_t chunk = 0; chunk < own; ++chunk)
    appendStored(layer->table, 0,
                 {Hash128{chunk, std::hash<std::string>()(name)}, chunk * 100, 100});
  if (own < chunks)
    appendBase(layer->table, chunks - own);
  layer->tableBytes = own * 17 + 100;
  return chainOf(layer, 0, std::move(base));
}

RegionPlan planOn(RegionChain base) {
  RegionPlan plan;
  plan.region = base->table().region;
  plan.base = std::move(base);
  return plan;
}

} // namespace

TEST_CASE("thousands of instances of hundreds of kernels need few files each") {
  const TemporaryDirectory directory;
  ManyKernels application(directory.path(), {200, 50, 4});
  const std::vector<uint64_t> kernels = application.order(kInstances);
  std::vector<std::vector<Stamps>> expected;
  for (uint64_t index = 0; index < kInstances; ++index) {
    application.launch(kernels[index], index);
    expected.push_back(application.held(kernels[index]));
  }
  application.writer.finish();
  REQUIRE(application.writer.statistics().losses.empty());
  std::map<uint64_t, KernelRecord> records;
  for (const uint64_t kernel : kernels)
    if (!records.contains(kernel))
      records[kernel] =
          KernelRecord::load(directory.path() / (std::to_string(kernel + 1) + ".json"));
  for (uint64_t index = 0; index < kInstances; ++index) {
    const Instance& instance = records[kernels[index]].instances.at(index);
    Snapshot::open(directory.path() / instance.prologue);
    checkSnapshot(directory.path() / instance.epilogue, expected[index], index % 50 == 0);
  }
  const Opened first = open(directory.path(), records[0].instances.at(0));
  const Opened last = open(directory.path(), records[0].instances.at(kInstances - 1));
  CHECK(last.tables <= 2 * first.tables);
  CHECK(last.tables * kFileCostBytes + last.tableBytes <=
        2 * (first.tables * kFileCostBytes + first.tableBytes));
}

TEST_CASE("tables of large memory build on one another, those of small memory hardly") {
  RegionChain large = layerOf("0", 100'000, 100'000, nullptr);
  RegionChain small = layerOf("small", 100, 100, nullptr);
  for (uint32_t depth = 1; depth <= 10; ++depth) {
    large = layerOf(std::to_string(depth), 100'000, 10, large);
    small = layerOf("small " + std::to_string(depth), 100, 1, small);
  }
  std::vector<RegionPlan> plans{planOn(large)};
  boundTables(plans);
  CHECK(plans[0].base == large);
  plans = {planOn(small)};
  boundTables(plans);
  REQUIRE(plans[0].base);
  CHECK(plans[0].base->depth == 0);
  CHECK(plans[0].chunks.size() == 1); // that differs from the lowest
}

TEST_CASE("of several bases the one that saves most is kept") {
  std::vector<RegionPlan> plans;
  const uint64_t chunks[] = {20, 700, 30};
  for (int index = 0; index < 3; ++index)
    plans.push_back(planOn(layerOf(std::to_string(index), chunks[index], chunks[index], nullptr)));
  boundTables(plans);
  CHECK(!plans[0].base);
  CHECK(plans[0].chunks.size() == 20);
  CHECK(plans[1].base);
  CHECK(!plans[2].base);
}

TEST_CASE("what no draft to come can be based on is let go") {
  Ledger ledger;
  for (uint64_t id = 1; id <= 1000; ++id) {
    ledger.add(id, {layerOf(std::to_string(id), 4, 4, nullptr)});
    ledger.settle(id);
  }
  CHECK(ledger.size() == 1);
}

} // namespace mneme::artifact::test
