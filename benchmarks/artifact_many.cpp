// The artifact room with many instances of many kernels over many buffers, without a device: what
// opening them costs, how many files each needs and what bounding that costs on disk. Prints JSON.
//   bench_artifact_many [directory, default .] [instances, default 2000] [kernels, default 200]
//                       [buffers, default 50] [chunks per buffer, default 4]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/snapshot.h"
#include "tests/unit/artifact/many_kernels.h"

namespace {

using namespace mneme::artifact;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double microseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

/// Median time of opening both snapshots of an instance.
double openingTime(const fs::path& directory, const Instance& instance) {
  std::vector<double> times;
  for (int repetition = 0; repetition < 41; ++repetition) {
    const auto begin = Clock::now();
    Snapshot::open(directory / instance.prologue);
    Snapshot::open(directory / instance.epilogue);
    times.push_back(microseconds(begin));
  }
  std::nth_element(times.begin(), times.begin() + 20, times.end());
  return times[20];
}

uint64_t argument(int argc, char** argv, int index, uint64_t otherwise) {
  return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
}

} // namespace

int main(int argc, char** argv) {
  const fs::path directory =
      fs::path(argc > 1 ? argv[1] : ".") / ("bench-artifact-" + std::to_string(getpid()));
  const uint64_t instances = argument(argc, argv, 2, 2000);
  const test::ManyKernelsSize size{argument(argc, argv, 3, 200), argument(argc, argv, 4, 50),
                                   argument(argc, argv, 5, 4)};
  test::ManyKernels application(directory, size);
  const std::vector<uint64_t> kernels = application.order(instances);
  auto begin = Clock::now();
  for (uint64_t index = 0; index < instances; ++index)
    application.launch(kernels[index], index);
  application.writer.finish();
  const double writing = microseconds(begin) * 1e-6;
  const WriterStatistics statistics = application.writer.statistics();

  std::map<uint64_t, KernelRecord> records;
  for (const uint64_t kernel : kernels)
    records.try_emplace(kernel,
                        KernelRecord::load(directory / (std::to_string(kernel + 1) + ".json")));
  uint64_t needed = 0, most = 0, tables = 0, tableBytes = 0;
  begin = Clock::now();
  for (uint64_t index = 0; index < instances; ++index) {
    const Instance& instance = records[kernels[index]].instances.at(index);
    for (const std::string& name : {instance.prologue, instance.epilogue}) {
      const Snapshot snapshot = Snapshot::open(directory / name);
      const uint64_t files = snapshot.neededFiles().size();
      needed += files;
      most = std::max(most, files);
      tables += snapshot.sizes().tables;
      tableBytes += snapshot.sizes().tableBytes;
    }
  }
  const double openingAll = microseconds(begin) * 1e-6;
  begin = Clock::now();
  const size_t carried = filesOf(directory / "1.json").size();
  const double listing = microseconds(begin) * 1e-6;
  const auto snapshots = static_cast<double>(2 * instances);
  std::printf("{\n  \"instances\": %llu, \"lost\": %llu,\n  \"writing_s\": %.2f,\n"
              "  \"unique_bytes\": %llu, \"raw_bytes\": %llu, \"stored_bytes\": %llu,\n"
              "  \"needed_files_mean\": %.1f, \"needed_files_most\": %llu,\n"
              "  \"tables_mean\": %.2f, \"table_bytes_mean\": %.0f,\n"
              "  \"open_first_us\": %.0f, \"open_last_us\": %.0f, \"open_all_s\": %.2f,\n"
              "  \"files_of_one_record\": %zu, \"listing_them_s\": %.3f\n}\n",
              static_cast<unsigned long long>(statistics.instancesWritten),
              static_cast<unsigned long long>(statistics.instancesLost), writing,
              static_cast<unsigned long long>(statistics.uniqueBytes),
              static_cast<unsigned long long>(statistics.rawBytes),
              static_cast<unsigned long long>(statistics.storedBytes),
              static_cast<double>(needed) / snapshots, static_cast<unsigned long long>(most),
              static_cast<double>(tables) / snapshots, static_cast<double>(tableBytes) / snapshots,
              openingTime(directory, records[0].instances.at(0)),
              openingTime(directory, records[0].instances.at(instances - 1)), openingAll, carried,
              listing);
  fs::remove_all(directory);
  return 0;
}
