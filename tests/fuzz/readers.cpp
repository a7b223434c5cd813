#include "tests/fuzz/readers.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/base/error.h"
#include "runtime/core/embed/blob_set.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/core/embed/device_code.h"

namespace mneme::fuzz {
namespace {

/// Larger regions are checked chunk by chunk only, so that a run needs no memory of their size.
constexpr uint64_t kMaxRead = 1 << 20;
constexpr uint64_t kMaxHashed = 1ull << 30;

/// A file of this process in memory (/dev/shm), rewritten for every input.
std::filesystem::path write(std::span<const std::byte> bytes, const char* name) {
  static const std::filesystem::path directory = [] {
    const char* place = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    std::filesystem::path path =
        std::filesystem::path(place) / ("mneme-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all("/dev/shm/mneme-fuzz-" + std::to_string(getpid()), ignored);
      std::filesystem::remove_all("/tmp/mneme-fuzz-" + std::to_string(getpid()), ignored);
    });
    return path;
  }();
  std::ofstream(directory / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return directory / name;
}

template <typename Read> Answer ask(const Read& read) {
  try {
    read();
    return Answer::Accepted;
  } catch (const Error&) {
    return Answer::Refused;
  }
}

Answer readSnapshot(std::span<const std::byte> bytes) {
  const auto path = write(bytes, "input.mneme");
  return ask([&] {
    const artifact::Snapshot snapshot = artifact::Snapshot::open(path);
    snapshot.sizes();
    for (size_t index = 0; index < snapshot.regions().size(); ++index) {
      std::vector<std::byte> content(std::min(snapshot.regions()[index].sizeBytes, kMaxRead));
      if (snapshot.regions()[index].sizeBytes < kMaxHashed)
        snapshot.chunkHashes(index);
      artifact::changedRanges(snapshot, snapshot, index);
      snapshot.read(index, 0, content);
    }
    snapshot.verifyAll();
    snapshot.verifyPlaces();
    artifact::Snapshot::verifyStored(path);
  });
}

Answer readRecord(std::span<const std::byte> bytes) {
  const auto path = write(bytes, "1.json");
  // The files it names do not exist: whether the record itself is sound is the answer.
  ask([&] { artifact::filesOf(path); });
  return ask([&] { artifact::KernelRecord::load(path).toJson(); });
}

Answer readBlob(std::span<const std::byte> bytes) {
  return ask([&] { embed::KernelBlob::parse(bytes); });
}

Answer readImage(std::span<const std::byte> bytes) {
  return ask([&] {
    const embed::BlobSet set = embed::readDeviceImage(bytes);
    for (const auto& [name, blob] : set.kernels)
      embed::modulesFor(set, name);
    embed::readCpuKernel(bytes);
  });
}

Answer readCode(std::span<const std::byte> bytes) {
  return ask([&] {
    for (const char* gpu : {"", "sm_75", "sm_90", "sm_120"})
      embed::readDeviceCode(bytes, gpu);
  });
}

} // namespace

void provide(const char* name, std::span<const std::byte> bytes) { write(bytes, name); }

const std::vector<NamedReader>& readers() {
  static const std::vector<NamedReader> all = {{"snapshot", readSnapshot},
                                               {"record", readRecord},
                                               {"blob", readBlob},
                                               {"image", readImage},
                                               {"code", readCode}};
  return all;
}

} // namespace mneme::fuzz
