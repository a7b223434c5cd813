#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include "gpu_support.h"
#include "runtime/core/base/file.h"

using namespace mneme;
using namespace mneme::device;
using namespace test;

std::unique_ptr<Device> test::openGpu() {
  static std::string reason;
  for (const DeviceStatus& status : listDevices())
    if (status.isAvailable && status.id.starts_with("cuda"))
      return openDevice(status.id);
    else if (status.id.starts_with("cuda") && reason.empty()) {
      reason = status.whyUnavailable;
      std::printf("skipped, there is no GPU: %s\n", reason.c_str());
    }
  return nullptr;
}

std::string test::outputOfChild(const std::string& name, const std::string& variable,
                                const std::string& value) {
  setenv(variable.c_str(), value.c_str(), 1);
  const std::string command =
      "/proc/" + std::to_string(getpid()) + "/exe --no-skip -tc='" + name + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  unsetenv(variable.c_str());
  std::string output;
  std::array<char, 4096> part;
  while (const size_t size = fread(part.data(), 1, part.size(), pipe))
    output.append(part.data(), size);
  const int status = pclose(pipe);
  return output + "exit status " +
         (WIFEXITED(status) ? std::to_string(WEXITSTATUS(status)) : std::string("of a signal"));
}

namespace {

uint32_t runFill(Device& gpu, Module& module, uint64_t out, uint32_t factor, uint32_t index) {
  void* args[] = {&out, &factor};
  gpu.launch(module, shapeOf(1024, 256), args, 10);
  uint32_t value = 0;
  gpu.copyToHost(&value, out + index * 4ull, 4);
  return value;
}

} // namespace

TEST_CASE("the GPU describes itself") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const Description& facts = gpu->description();
  std::printf("%s: %s, %s, %s; %llu MiB, %u multiprocessors, L2 %llu KiB, clusters of %u, pages of "
              "%llu KiB, timer %s\n",
              facts.id.c_str(), facts.name.c_str(), facts.target.c_str(), facts.driver.c_str(),
              (unsigned long long)facts.totalMemoryBytes >> 20, facts.multiprocessors,
              (unsigned long long)facts.l2CacheBytes >> 10, facts.maxClusterBlocks,
              (unsigned long long)gpu->granularity() >> 10, gpu->timerName());
  CHECK(facts.totalMemoryBytes > 0);
  CHECK(facts.maxSharedPerBlockOptinBytes >= facts.maxSharedPerBlockBytes);
}

TEST_CASE("memory comes at recorded addresses, zeroed, and kernels see it") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const uint64_t window = 0x600000000000, size = uint64_t{1} << 30;
  CHECK(gpu->reserve(window, size) == window);
  gpu->map(window + (64 << 20), 8 << 20);
  const uint64_t out = window + (64 << 20);
  std::vector<std::byte> bytes(8 << 20, std::byte{1});
  gpu->copyToHost(bytes.data(), out, bytes.size());
  CHECK(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
  const auto module = load(*gpu, kernels, "fill");
  CHECK(runFill(*gpu, *module, out, 3, 1000) == 3000);
  CHECK(runFill(*gpu, *module, out, 5, 262143) == 5 * 262143);
  CHECK(messageOf([&] { gpu->reserve(window, size); }).starts_with("address unavailable"));
  gpu->unmap(out, 8 << 20);
  gpu->release(window, size);
  CHECK(gpu->reserve(window, size) == window);
  gpu->release(window, size);
}

TEST_CASE("the recorder's whole window is granted") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const uint64_t window = 0x600000000000, size = uint64_t{1} << 40;
  std::string message;
  const double seconds =
      secondsFor([&] { message = messageOf([&] { gpu->reserve(window, size); }); });
  std::printf("reserving 1 TiB: %s, %.0f us\n", message.c_str(), seconds * 1e6);
  CHECK(message == "no error");
  gpu->release(window, size);
}

TEST_CASE("copies are whole at every size, and their speed is told") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const size_t largest = size_t{1} << 30;
  const Memory memory(*gpu, largest);
  std::vector<std::byte> sent(largest), back(largest);
  for (size_t i = 0; i < largest; i += 64)
    std::memcpy(&sent[i], &i, sizeof(i));
  for (const size_t size : {size_t{4} << 10, size_t{1} << 20 | 3, size_t{16} << 20,
                            size_t{128} << 20 | 5, largest, size_t{4} << 10, size_t{16} << 20}) {
    std::memset(back.data(), 0, size);
    const double up = secondsFor([&] { gpu->copyToDevice(memory.address, sent.data(), size); });
    const double down = secondsFor([&] { gpu->copyToHost(back.data(), memory.address, size); });
    std::printf("copy of %10zu bytes: to the GPU %8.2f GB/s (%.0f us), to the host %8.2f GB/s "
                "(%.0f us)\n",
                size, size / up / 1e9, up * 1e6, size / down / 1e9, down * 1e6);
    CHECK(std::memcmp(sent.data(), back.data(), size) == 0);
  }
  std::unique_ptr<StagingBuffer> buffers[2];
  const size_t piece = 16 << 20;
  const double pinning = secondsFor([&] {
    for (auto& buffer : buffers)
      buffer = gpu->makeStaging(piece);
  });
  const double streaming = secondsFor([&] {
    uint64_t tickets[2] = {};
    for (size_t i = 0; i < largest / piece; ++i) {
      gpu->waitForCopy(tickets[i % 2]);
      tickets[i % 2] = gpu->startCopyToDevice(memory.address + i * piece, *buffers[i % 2], piece);
    }
    gpu->waitForCopy(tickets[0]);
    gpu->waitForCopy(tickets[1]);
  });
  std::printf("staging: pinning 32 MiB %.1f ms, streaming %.2f GB/s\n", pinning * 1e3,
              largest / streaming / 1e9);
}

TEST_CASE("bulk operations agree with the host") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const size_t size = (64 << 20) + 12345;
  const Memory first(*gpu, size), second(*gpu, size);
  std::vector<std::byte> data(size);
  for (size_t i = 0; i < size; ++i)
    data[i] = std::byte(i * i >> 9);
  gpu->copyToDevice(first.address, data.data(), size);
  const CopyRange range{second.address, first.address, size};
  gpu->restore({&range, 1});
  const size_t page = 64 << 10, pages = (size + page - 1) / page;
  std::vector<Hash128> hashes(pages);
  gpu->hashPages(second.address, size, page, hashes);
  for (size_t i = 0; i < pages; ++i)
    CHECK(hashes[i] == hash128(std::span(data).subspan(i * page, std::min(page, size - i * page))));
  CHECK(gpu->diffPages(first.address, second.address, size, page).empty());
  const std::byte changed{static_cast<unsigned char>(~static_cast<unsigned char>(data[page * 7]))};
  gpu->copyToDevice(second.address + page * 7, &changed, 1);
  CHECK(gpu->diffPages(first.address, second.address, size, page) == std::vector<uint64_t>{7});
  CompareRequest request;
  request.actual = second.address;
  request.expected = first.address;
  request.sizeBytes = size;
  const auto reports = gpu->compare({&request, 1});
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].mismatchCount == 1);
  CHECK(reports[0].firstMismatch == page * 7);
}

TEST_CASE("the heap from which kernels allocate is found, and is memory as any other") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const uint64_t size = 16 << 20;
  const auto heap = gpu->heap(size);
  REQUIRE(heap.has_value());
  std::printf("heap of %llu bytes at %#llx\n", (unsigned long long)heap->sizeBytes,
              (unsigned long long)heap->begin);
  REQUIRE(heap->sizeBytes == size);
  std::vector<std::byte> sent(size), back(size);
  for (size_t i = 0; i < size; i += sizeof(i))
    std::memcpy(&sent[i], &i, sizeof(i));
  gpu->copyToDevice(heap->begin, sent.data(), size);
  gpu->copyToHost(back.data(), heap->begin, size);
  CHECK(sent == back);
  const Memory memory(*gpu, size);
  const CopyRange away{memory.address, heap->begin, size}, home{heap->begin, memory.address, size};
  gpu->restore({&away, 1});
  gpu->copyToHost(back.data(), memory.address, size);
  CHECK(sent == back);
  const auto module = load(*gpu, kernels, "fill");
  CHECK(runFill(*gpu, *module, heap->begin + 4096, 3, 1000) == 3000);
  CHECK(gpu->diffPages(heap->begin, memory.address, size, 64 << 10).size() > 0);
  gpu->prepareRestore({home})->run();
  CHECK(gpu->diffPages(heap->begin, memory.address, size, 64 << 10).empty());
  const auto staging = gpu->makeStaging(1 << 20);
  std::memset(staging->bytes().data(), 7, 1 << 20);
  gpu->waitForCopy(gpu->startCopyToDevice(heap->begin + 4096, *staging, 1 << 20));
  gpu->copyToHost(back.data(), heap->begin + 4096, 1 << 20);
  CHECK(std::all_of(back.begin(), back.begin() + (1 << 20),
                    [](std::byte b) { return b == std::byte{7}; }));
}

TEST_CASE("a kernel's resources and limits are told") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const auto module = load(*gpu, kernels, "fill");
  CHECK(module->attributes().registers > 0);
  CHECK(module->attributes().maxThreadsPerBlock == 1024);
  CHECK(messageOf([&] { load(*gpu, kernels, "absent"); }) ==
        "not found: the image has no kernel 'absent'");
  const std::string broken = kernels + "\n.visible .entry wrong() { bogus.u32; }\n";
  const std::string message = messageOf([&] { load(*gpu, broken, "wrong"); });
  std::printf("%s\n", message.c_str());
  CHECK(has(message, "compile failed: loading kernel 'wrong' failed"));
  const std::string future = ".version 99.0\n.target sm_999\n.address_size 64\n";
  std::printf("%s\n", messageOf([&] { load(*gpu, future, "k"); }).c_str());
  CHECK(gpu->isUsable());
}

TEST_CASE("a block can have all the shared memory there is, and no more") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const Memory memory(*gpu, 4096);
  const auto module = load(*gpu, kernels, "needShared");
  uint64_t out = memory.address;
  void* args[] = {&out};
  LaunchShape shape = shapeOf(1, 1);
  shape.dynamicSharedBytes = 100 << 10;
  if (gpu->description().maxSharedPerBlockOptinBytes < shape.dynamicSharedBytes)
    return;
  gpu->launch(*module, shape, args, 10);
  uint32_t value = 0;
  gpu->copyToHost(&value, out, 4);
  CHECK(value == 42);
  shape.dynamicSharedBytes = gpu->description().maxSharedPerBlockOptinBytes + 1;
  CHECK(has(messageOf([&] { gpu->launch(*module, shape, args, 10); }), "invalid argument"));
  CHECK(gpu->isUsable());
}

TEST_CASE("a cooperative grid runs at once or is refused with the numbers") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const Memory memory(*gpu, 4096);
  const auto module = load(*gpu, kernels, "together");
  uint64_t arrivals = memory.address;
  void* args[] = {&arrivals};
  LaunchShape shape = shapeOf(gpu->description().multiprocessors, 64);
  shape.isCooperative = true;
  gpu->launch(*module, shape, args, 10);
  uint32_t value = 0;
  gpu->copyToHost(&value, arrivals, 4);
  CHECK(value == shape.grid[0] * shape.block[0]);
  shape.grid[0] = 1000000;
  const std::string message = messageOf([&] { gpu->launch(*module, shape, args, 10); });
  std::printf("%s\n", message.c_str());
  CHECK(has(message, "has 1000000 blocks, which must all run at once, but only"));
  CHECK(gpu->isUsable());
}

TEST_CASE("clusters have the size asked for, or are refused") {
  const auto gpu = openGpu();
  if (!gpu || gpu->description().maxClusterBlocks == 1)
    return;
  const Memory memory(*gpu, 4096);
  const auto module = load(*gpu, clusterKernels, "clusterSize");
  uint64_t out = memory.address;
  void* args[] = {&out};
  LaunchShape shape = shapeOf(64, 32);
  for (const uint32_t size : {1, 2, 8, 16}) {
    if (size > gpu->description().maxClusterBlocks)
      continue;
    shape.cluster[0] = size;
    gpu->launch(*module, shape, args, 10);
    uint32_t value = 0;
    gpu->copyToHost(&value, out, 4);
    CHECK(value == size);
  }
  shape.cluster[0] = 32;
  CHECK(has(messageOf([&] { gpu->launch(*module, shape, args, 10); }), "in a cluster"));
  shape.cluster[0] = 3;
  CHECK(has(messageOf([&] { gpu->launch(*module, shape, args, 10); }), "not a multiple"));
  CHECK(gpu->isUsable());
}

TEST_CASE("a cubin's variables and arguments are found") {
  const auto gpu = openGpu();
  if (!gpu)
    return;
  const std::string base =
      (std::filesystem::temp_directory_path() / ("mneme-" + std::to_string(getpid()))).string();
  writeFileAtomically(base + ".ptx", kernels);
  const std::string tool =
      std::filesystem::exists("/usr/local/cuda/bin/ptxas") ? "/usr/local/cuda/bin/ptxas" : "ptxas";
  // Newer assemblers know no Volta.
  const std::string text = "sed -i 's/sm_70/" + gpu->description().target +
                           "/;s/version 6.3/version 8.0/' " + base + ".ptx && " + tool +
                           " -arch=" + gpu->description().target + " " + base + ".ptx -o " + base +
                           ".cubin 2>/dev/null";
  if (std::system(text.c_str()) != 0) {
    std::printf("skipped, there is no ptxas\n");
    return;
  }
  const std::vector<std::byte> image = readFile(base + ".cubin");
  std::filesystem::remove(base + ".ptx");
  std::filesystem::remove(base + ".cubin");
  const auto module = gpu->load(image, "useVariables", {});
  CHECK(module->argumentSizes() == std::vector<uint64_t>{8});
  uint64_t factors = 0, counter = 0;
  for (const ModuleGlobal& global : module->globals()) {
    if (global.name == "factors" && global.isConstant && global.sizeBytes == 16)
      factors = global.address;
    if (global.name == "counter" && !global.isConstant && global.sizeBytes == 8)
      counter = global.address;
  }
  REQUIRE(factors != 0);
  REQUIRE(counter != 0);
  const uint32_t constants[4] = {0, 0, 70, 0};
  const uint64_t count = 1000;
  gpu->copyToDevice(factors, constants, sizeof(constants));
  gpu->copyToDevice(counter, &count, sizeof(count));
  const Memory memory(*gpu, 4096);
  uint64_t out = memory.address, value = 0;
  void* args[] = {&out};
  gpu->launch(*module, shapeOf(1, 1), args, 10);
  gpu->copyToHost(&value, out, sizeof(value));
  CHECK(value == 1070);
}

TEST_CASE("every GPU has a device of its own") {
  std::vector<std::unique_ptr<Device>> gpus;
  for (const DeviceStatus& status : listDevices())
    if (status.isAvailable && status.id.starts_with("cuda"))
      gpus.push_back(openDevice(status.id));
  for (const auto& gpu : gpus) {
    const Memory memory(*gpu, 4 << 20);
    const auto module = load(*gpu, kernels, "fill");
    CHECK(runFill(*gpu, *module, memory.address, 9, 77) == 9 * 77);
  }
}
