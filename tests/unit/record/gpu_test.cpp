// The recorder's side of a GPU, on a real one. Without one these tests pass at once.
#include <algorithm>
#include <cstring>
#include <future>
#include <random>

#include <doctest/doctest.h>

#include "runtime/devices/cuda/application.h"
#include "runtime/recorder/backends/cuda/cuda_gpu.h"
#include "runtime/recorder/window_allocator.h"

namespace mneme::record::test {
namespace {

using namespace device::cuda;
using artifact::kChunkBytes;

/// The first GPU's primary context, current while this lives.
class Gpu {
public:
  Gpu() : driver_(Driver::find()) {
    int count = 0;
    if (!driver_ || driver_->cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0 ||
        driver_->cuDevicePrimaryCtxRetain(&context_, 0) != CUDA_SUCCESS) {
      MESSAGE("skipped: there is no GPU");
      return;
    }
    driver_->cuCtxPushCurrent(context_);
    side = gpu::currentCudaSide();
  }
  ~Gpu() {
    if (!context_)
      return;
    CUcontext ignored = nullptr;
    driver_->cuCtxPopCurrent(&ignored);
    driver_->cuDevicePrimaryCtxRelease(0);
  }
  gpu::Side side; ///< vendor null without a GPU

private:
  const Driver* driver_;
  CUcontext context_ = nullptr;
};

std::vector<std::byte> randomBytes(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  for (size_t at = 0; at < count; at += 8) {
    const uint64_t value = random();
    std::memcpy(&bytes[at], &value, std::min<size_t>(8, count - at));
  }
  return bytes;
}

struct Filled {
  artifact::Region region;
  std::vector<std::byte> content;
  std::vector<Hash128> hashes;
};

Filled fill(const gpu::Side& side, WindowAllocator& window, size_t bytes, unsigned seed) {
  Filled filled;
  filled.content = randomBytes(bytes, seed);
  filled.region.address = window.allocate(bytes);
  filled.region.sizeBytes = bytes;
  REQUIRE(filled.region.address != 0);
  REQUIRE(Driver::find()->cuMemcpyHtoD(filled.region.address, filled.content.data(), bytes) ==
          CUDA_SUCCESS);
  filled.hashes.resize((bytes + kChunkBytes - 1) / kChunkBytes);
  return filled;
}

void hashAll(DeviceAccess& access, std::vector<Filled>& all) {
  std::vector<HashTask> tasks;
  for (Filled& one : all)
    tasks.push_back({&one.region, one.hashes});
  access.beginSnapshot();
  access.hash(tasks);
}

/// Whether what the access hashed and takes is what the memory holds.
void checkContent(DeviceAccess& access, std::vector<Filled>& all) {
  hashAll(access, all);
  std::vector<Piece> pieces;
  std::vector<std::span<const std::byte>> expected;
  for (const Filled& one : all)
    for (size_t chunk = 0; chunk < one.hashes.size(); ++chunk) {
      const uint64_t offset = chunk * kChunkBytes;
      const auto bytes =
          std::span(one.content)
              .subspan(offset, std::min<size_t>(kChunkBytes, one.content.size() - offset));
      REQUIRE(one.hashes[chunk] == hash128(bytes));
      if (chunk % 7 == 3) // scattered pieces and, by neighbours below, runs
        continue;
      pieces.push_back({&one.region, offset, static_cast<uint32_t>(bytes.size())});
      expected.push_back(bytes);
    }
  const Content content = access.take(pieces);
  std::promise<std::exception_ptr> arrived;
  access.afterwards([&](std::exception_ptr failure) { arrived.set_value(failure); });
  REQUIRE_FALSE(arrived.get_future().get());
  REQUIRE(content.pieces.size() == pieces.size());
  for (size_t index = 0; index < pieces.size(); ++index)
    REQUIRE(std::equal(expected[index].begin(), expected[index].end(),
                       content.pieces[index].begin(), content.pieces[index].end()));
}

/// Whether exactly the chunks in which an address was put are found to hold one.
void checkSearch(const gpu::Side& side, DeviceAccess& access, std::vector<Filled>& all,
                 const std::vector<std::pair<size_t, size_t>>& places) {
  const WordRanges targets({{0x7f1200000000, 4096}, {0x7f1300000100, 1}, {0x7f1400000000, 8}});
  const uint64_t address = 0x7f1200000fff;
  for (const auto& [region, chunk] : places)
    REQUIRE(Driver::find()->cuMemcpyHtoD(all[region].region.address + chunk * kChunkBytes + 16,
                                         &address, 8) == CUDA_SUCCESS);
  hashAll(access, all);
  std::vector<Piece> pieces;
  std::vector<uint8_t> expected;
  for (size_t region = 0; region < all.size(); ++region)
    for (size_t chunk = 0; chunk < all[region].hashes.size(); chunk += 1 + (chunk % 5 == 0)) {
      const uint64_t offset = chunk * kChunkBytes;
      pieces.push_back(
          {&all[region].region, offset,
           static_cast<uint32_t>(std::min(kChunkBytes, all[region].region.sizeBytes - offset))});
      expected.push_back(std::find(places.begin(), places.end(), std::pair(region, chunk)) !=
                         places.end());
    }
  const SearchResult result = access.search(pieces, targets);
  CHECK(result.holdsAddress == expected);
  CHECK(result.isReached == std::vector<uint8_t>{1, 0, 0});
}

} // namespace

TEST_CASE("gpu: the window lies where it should and its memory is ordinary device memory") {
  const Gpu gpu;
  if (!gpu.side.vendor)
    return;
  const auto backend = gpu::makeMemory(gpu.side);
  REQUIRE(backend);
  WindowAllocator window(*backend, 0, 1 << 30);
  CHECK(window.base() == 0x600000000000);
  const uint64_t first = window.allocate(300 << 20), second = window.allocate(5000);
  REQUIRE(first != 0);
  unsigned type = 0;
  CHECK(Driver::find()->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, second) ==
        CUDA_SUCCESS);
  CHECK(type == CU_MEMORYTYPE_DEVICE);
  // Across the border of two mapped runs.
  std::vector<std::byte> bytes = randomBytes(20 << 20, 1), back(bytes.size());
  const uint64_t border = first + (246 << 20);
  CHECK(Driver::find()->cuMemcpyHtoD(border, bytes.data(), bytes.size()) == CUDA_SUCCESS);
  CHECK(Driver::find()->cuMemcpyDtoH(back.data(), border, bytes.size()) == CUDA_SUCCESS);
  CHECK(bytes == back);
  window.release(first, 300 << 20);
  CHECK(window.trim() == 300 << 20); // the second lies in a run of its own
  CHECK(window.allocate(300 << 20) == first);
}

TEST_CASE("gpu: a window can be made again after it was given back") {
  const Gpu gpu;
  if (!gpu.side.vendor)
    return;
  for (int round = 0; round < 3; ++round) {
    const auto backend = gpu::makeMemory(gpu.side);
    WindowAllocator window(*backend, 0, uint64_t{64} << 30);
    CHECK(window.base() == 0x600000000000);
    CHECK(window.allocate(1 << 20) == window.base());
  }
}

TEST_CASE("gpu: small snapshots are hashed and taken as they are") {
  const Gpu gpu;
  if (!gpu.side.vendor)
    return;
  const auto backend = gpu::makeMemory(gpu.side);
  WindowAllocator window(*backend, 0, 1 << 30);
  const auto access =
      gpu::makeAccess(gpu.side, [](const mneme_launch&) { return reinterpret_cast<void*>(1); });
  std::vector<Filled> all;
  for (const size_t bytes : {size_t{9} << 20, size_t{777}, kChunkBytes, kChunkBytes + 1})
    all.push_back(fill(gpu.side, window, bytes, static_cast<unsigned>(bytes)));
  for (int round = 0; round < 40; ++round) // the last ones by kernels
    checkContent(*access, all);
  checkSearch(gpu.side, *access, all, {{0, 2}, {0, 9}, {3, 0}});
}

TEST_CASE("gpu: small snapshots are searched where they were fetched to") {
  const Gpu gpu;
  if (!gpu.side.vendor)
    return;
  const auto backend = gpu::makeMemory(gpu.side);
  WindowAllocator window(*backend, 0, 1 << 30);
  const auto access =
      gpu::makeAccess(gpu.side, [](const mneme_launch&) { return reinterpret_cast<void*>(1); });
  std::vector<Filled> all;
  for (const size_t bytes : {size_t{9} << 20, size_t{777}})
    all.push_back(fill(gpu.side, window, bytes, static_cast<unsigned>(bytes)));
  checkSearch(gpu.side, *access, all, {{0, 2}, {1, 0}});
}

TEST_CASE("gpu: the heap from which kernels allocate is found, hashed and taken") {
  const Gpu gpu;
  if (!gpu.side.vendor)
    return;
  const auto access =
      gpu::makeAccess(gpu.side, [](const mneme_launch&) { return reinterpret_cast<void*>(1); });
  const auto heap = access->heap(std::chrono::seconds(1));
  REQUIRE(heap.has_value());
  CHECK(heap->sizeBytes >= 4 << 20);
  REQUIRE(access->canRead(*heap));
  std::vector<Hash128> hashes(heap->sizeBytes / kChunkBytes);
  const HashTask task{&*heap, hashes};
  access->beginSnapshot();
  access->hash({&task, 1});
  std::vector<Piece> pieces;
  for (size_t chunk = 0; chunk < hashes.size(); ++chunk)
    pieces.push_back({&*heap, chunk * kChunkBytes, kChunkBytes});
  const Content content = access->take(pieces);
  std::promise<std::exception_ptr> arrived;
  access->afterwards([&](std::exception_ptr failure) { arrived.set_value(failure); });
  REQUIRE_FALSE(arrived.get_future().get());
  size_t different = 0;
  for (size_t chunk = 0; chunk < hashes.size(); ++chunk) {
    CHECK(hash128(content.pieces[chunk]) == hashes[chunk]);
    different += hashes[chunk] != hashes[1];
  }
  CHECK(different > 0); // the allocator's own words
  CHECK(access->search(pieces, WordRanges({{0x3f00000075, 1}})).holdsAddress.size() ==
        pieces.size());
  access->finish();
  access->giveBack();
}

TEST_CASE("gpu: large snapshots are hashed on the device and taken behind the caller's back") {
  const Gpu gpu;
  if (!gpu.side.vendor)
    return;
  const auto backend = gpu::makeMemory(gpu.side);
  WindowAllocator window(*backend, 0, uint64_t{2} << 30);
  const auto access =
      gpu::makeAccess(gpu.side, [](const mneme_launch&) { return reinterpret_cast<void*>(1); });
  std::vector<Filled> all;
  for (const size_t bytes : {(size_t{300} << 20) + 12345, size_t{40} << 20, size_t{100}})
    all.push_back(fill(gpu.side, window, bytes, static_cast<unsigned>(bytes)));
  checkContent(*access, all);
  const std::vector<Hash128> before = all[0].hashes;
  all[0].content[100 * kChunkBytes + 7] ^= std::byte{1};
  REQUIRE(Driver::find()->cuMemcpyHtoD(all[0].region.address + 100 * kChunkBytes + 7,
                                       &all[0].content[100 * kChunkBytes + 7], 1) == CUDA_SUCCESS);
  hashAll(*access, all);
  for (size_t chunk = 0; chunk < before.size(); ++chunk)
    REQUIRE((all[0].hashes[chunk] == before[chunk]) == (chunk != 100));
  checkSearch(gpu.side, *access, all, {{0, 0}, {0, 9}, {0, 4800}, {1, 19}});
  access->finish();
  access->giveBack();
}

} // namespace mneme::record::test
