// A program to be recorded: registers a kernel as the passes would, launches it, and ends in the
// way its first argument names.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <csignal>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/record/guest_cache_configs.h"
#include "tests/unit/record/guest_kernel.h"
#include "tests/unit/record/guest_launch.h"
#include "tests/unit/record/guest_textures.h"

using namespace mneme::record::test;

namespace {

// Device variables beside the kernel's own.
int reached[4]; // only pointers lead to it
int beyond[4];  // and another, behind a pointer in this
void* link[2] = {nullptr, &beyond[1]};

std::atomic<bool> isNextBehind{false}, shallEnd{false};

int scale(mneme_dim3 grid, mneme_dim3 block, void** args) {
  float* data = *static_cast<float**>(args[0]);
  const int count = *static_cast<int*>(args[1]);
  if (isNextBehind.exchange(false)) { // goes on behind the launch
    ++guestWork;
    std::thread([data] {
      while (!shallEnd)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      data[5] += 100;
      --guestWork;
    }).detach();
    return 0;
  }
  for (int index = 0; index < count; ++index)
    data[index] = data[index] * 2 + 1;
  ++counter;
  return count < 0 ? 1 : 0;
}

void registerScale(const std::string& options) {
  registerKernel(scale,
                 {{&counter, "counter", sizeof(counter), 0, 0},
                  {&reached, "reached", sizeof(reached), 0, 0},
                  {&link, "link", sizeof(link), 0, 0},
                  {&beyond, "beyond", sizeof(beyond), 1, 0}},
                 options);
}

int launch(float* data, int count) { return launchKernel(scale, data, count); }

void launchFromThreads() {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      for (int round = 0; round < 100; ++round) {
        void* data = nullptr;
        cudaMalloc(&data, 4000);
        std::memset(data, thread, 4000);
        launch(static_cast<float*>(data), 100 + round % 7);
        cudaFree(data);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
}

/// More than is fetched whole: unlike chunks, some of which every launch changes.
void launchOnMuch() {
  constexpr size_t count = 24 << 20;
  void* memory = nullptr;
  std::printf("much %d\n", cudaMalloc(&memory, count * sizeof(float)));
  auto* data = static_cast<float*>(memory);
  for (size_t index = 0; index < count; ++index)
    data[index] = static_cast<float>(index / 77);
  const void* places[] = {&reached[3], &link};
  std::memcpy(&data[20'500'000], places, sizeof(places));
  launch(data, 5'000'000);
  data[20'000'000] = 1;
  launch(data, 10);
  launch(data, 3'000'000);
  std::printf("free %d value %g\n", cudaFree(memory), 1.0);
}

/// The second device first, whose streams have odd numbers.
void launchOnDevices() {
  void* memory = nullptr;
  std::printf("malloc %d\n", cudaMalloc(&memory, 8000));
  auto* data = static_cast<float*>(memory);
  std::memset(data, 0, 8000);
  float* parts[] = {data + 1000, data};
  int counts[] = {20, 30};
  void* args[2][2] = {{&parts[0], &counts[0]}, {&parts[1], &counts[1]}};
  GuestLaunch launches[2];
  for (int index : {0, 1})
    launches[index] = {
        reinterpret_cast<const void*>(&scale),         {1, 1, 1}, {32, 1, 1}, args[index], 0,
        reinterpret_cast<void*>(uintptr_t{17} - index)};
  std::printf("together %d\n", cudaLaunchCooperativeKernelMultiDevice(launches, 2, 0));
  ++counts[1];
  std::printf("one %d\n", cudaLaunchCooperativeKernelMultiDevice(launches + 1, 1, 3));
  std::printf("none %d\n", cudaLaunchCooperativeKernelMultiDevice(launches, 0, 0));
  std::printf("no list %d\n", cudaLaunchCooperativeKernelMultiDevice(nullptr, 1, 0));
  std::swap(launches[0].stream, launches[1].stream);
  launches[0].block.x = 0;
  std::printf("refused %d\n", cudaLaunchCooperativeKernelMultiDevice(launches, 2, 0));
  int device = -1;
  std::printf("device %d %d, values %g %g\n", cudaGetDevice(&device), device,
              static_cast<double>(data[1005]), static_cast<double>(data[5]));
}

/// Memory that the program maps itself, in two pieces side by side, which kernels are given, and
/// which only a pointer in memory leads to. As multicast memory, its handles stand for memory of
/// several devices, which another process made.
void launchOnMapped(float* data, bool isMulticast) {
  using Number = unsigned long long;
  const size_t piece = 4 << 20;
  struct {
    int type = 1, handles = 0, place = 1, device = 0;
    char more[48] = {};
  } memory; // CUmemAllocationProp
  struct {
    int place = 1, device = 0, flags = 3;
  } access; // CUmemAccessDesc
  Number begin = 0, handle = 0;
  std::printf("reserve %d\n",
              ofDriver("cuMemAddressReserve", &begin, 2 * piece, size_t{0}, Number{0}, Number{0}));
  for (Number at : {begin, begin + piece}) {
    std::printf("create %d ", ofDriver("cuMemCreate", &handle, piece, &memory, Number{0}));
    if (isMulticast)
      std::printf("add %d ", ofDriver("cuMulticastAddDevice", handle, 0));
    std::printf("map %d\n", ofDriver("cuMemMap", at, piece, size_t{0}, handle, Number{0}));
    ofDriver("cuMemRelease", handle);
  }
  std::printf("access %d\n", ofDriver("cuMemSetAccess", begin, 2 * piece, &access, size_t{1}));
  auto* own = reinterpret_cast<float*>(begin);
  std::memset(own, 0, 2 * piece);
  own[5] = 3;
  launch(own, 10);
  launch(own + 100, 10); // the same launch: pointers do not count
  std::memcpy(data + 2000, &own, sizeof own);
  launch(data, 20);
  std::printf("mapped %g\n", static_cast<double>(own[5]));
  for (Number at : {begin, begin + piece})
    std::printf("unmap %d\n", ofDriver("cuMemUnmap", at, piece));
  launch(data, 30);
  std::printf("free %d\n", ofDriver("cuMemAddressFree", begin, 2 * piece));
}

/// A context of the program's own, and memory in it.
struct OwnContext {
  void* context = nullptr;
  unsigned long long memory = 0;

  OwnContext() {
    std::printf("create %d ", ofDriver("cuCtxCreate_v2", &context, 0u, 0));
    std::printf("alloc %d\n", ofDriver("cuMemAlloc_v2", &memory, size_t{8192}));
    std::memset(data(), 0, 8192);
  }
  float* data() const { return reinterpret_cast<float*>(memory); }
  void use(int count) const {
    ofDriver("cuCtxSetCurrent", context);
    launch(data(), count);
    std::printf("value %g\n", static_cast<double>(data()[5]));
  }
  void destroy() const { std::printf("destroy %d\n", ofDriver("cuCtxDestroy_v2", context)); }
};

using Textured = void (*)(GuestKernel kernel, float* data);

void launchInOwnContext(Textured launches) {
  const OwnContext own;
  launches(scale, own.data());
  own.destroy();
  ofDriver("cuCtxSetCurrent", nullptr);
}

/// Launches in contexts of the program's own, in turns, one of which takes the place of another.
void launchInOwnContexts(float* data) {
  const OwnContext one, two;
  one.use(30);
  two.use(31);
  one.use(32);
  one.destroy();
  const OwnContext three;
  three.use(33);
  // Memory of another context, which the kernel is given.
  ofDriver("cuCtxSetCurrent", two.context);
  launch(three.data(), 34);
  three.destroy();
  two.destroy();
  ofDriver("cuCtxSetCurrent", nullptr);
  launch(data, 40);
}

/// In a part of the device, which has the memory of the whole.
void launchInGreenContext(float* data) {
  void* context = nullptr;
  unsigned long long memory = 0;
  std::printf("from %d\n", ofDriver("cuCtxFromGreenCtx", &context, nullptr));
  std::printf("push %d\n", ofDriver("cuCtxPushCurrent_v2", context));
  std::printf("alloc %d\n", ofDriver("cuMemAlloc_v2", &memory, size_t{8192}));
  std::memset(reinterpret_cast<void*>(memory), 0, 8192);
  launch(data, 30);
  std::printf("pop %d\n", ofDriver("cuCtxPopCurrent_v2", &context));
  launch(data, 40);
}

/// A kernel waits for what the program does next: one that is to be recorded, or is not, but the
/// launch behind it is.
void launchOneThatWaits(bool isRecorded, float* data) {
  launch(data, 10);
  isNextBehind = true;
  launch(data, isRecorded ? 11 : 10);
  launch(data, 12);
  shallEnd = true;
  cudaDeviceSynchronize();
  launch(data, 12);
  std::printf("value %g\n", static_cast<double>(data[5]));
}

/// A word of the device's heap, which the fake driver has here.
volatile int* const onHeap = reinterpret_cast<volatile int*>(0x205401000);

int allocate(mneme_dim3, mneme_dim3, void** args) {
  *onHeap = *static_cast<const int*>(args[1]);
  return 0;
}

/// A kernel leaves something on the heap, to which memory of the other has a pointer.
void launchOnHeap(float* data, bool isBehindOneThatWaits) {
  registerKernel<2>(allocate, {}, R"({"unrecorded_reads":["the device's heap"]})");
  ofDriver("cuInit", 0u);
  std::memcpy(data + 1024, &onHeap, sizeof onHeap);
  isNextBehind = isBehindOneThatWaits;
  if (isBehindOneThatWaits)
    launch(data, 1000); // recorded before: not waited for
  for (const int value : {42, 43}) {
    launchKernel(allocate, data, value);
    if (!shallEnd.exchange(true))
      cudaDeviceSynchronize();
    launch(data, value);
  }
  std::printf("on the heap: %d\n", *onHeap);
}

/// Memory of the host that no function of CUDA's gave: an argument, then what memory leads to.
void launchOnPageable(float* data) {
  auto* const host = static_cast<float*>(std::calloc(500, sizeof(float)));
  launch(host, 11);
  launch(host + 100, 11); // the same launch: pointers do not count
  std::memcpy(data + 2000, &host, sizeof host);
  launch(data, 20);
  std::printf("pageable %g\n", static_cast<double>(host[5]));
  std::free(host);
}

/// From the second launch on, malloc's blocks do not lead to the end of the heap.
void launchBesideForeignHeap(float* data) {
  launch(data, 21);
  std::printf("heap %d\n", sbrk(4096) != reinterpret_cast<void*>(-1));
  launch(data, 22);
}

/// Two contexts, each with what the program prefers there, and what it prefers on the device. A
/// third takes the place of one of them.
void launchWithCacheConfigsOfContexts() {
  const auto* const kernel = reinterpret_cast<const void*>(&scale);
  const OwnContext one, two; // the current one
  std::printf("context %d\n", ofDriver("cuCtxSetCacheConfig", 1));
  one.use(60);
  two.use(61);
  ofDriver("cuCtxSetCurrent", one.context);
  std::printf("kernel %d\n", ofDriver("cuFuncSetCacheConfig", kernel, 2));
  one.use(62);
  two.use(63);
  std::printf("device %d\n", ofDriver("cuKernelSetCacheConfig", kernel, 3, 0));
  one.use(64);
  two.use(65);
  one.destroy();
  const OwnContext three;
  three.use(66);
  three.destroy();
  two.destroy();
  ofDriver("cuCtxSetCurrent", nullptr);
}

int other(mneme_dim3, mneme_dim3, void**) { return 0; }

void inChild(const std::string& mode, void* data) {
  std::fflush(stdout);
  const pid_t child = mode == "vfork" ? vfork() : fork();
  if (child == 0) {
    if (mode == "vfork")
      execl("/bin/true", "true", static_cast<char*>(nullptr));
    _exit(cudaFree(data) == 0 ? 5 : 6);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
}

} // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "plain";
  registerScale(mode == "waits-only"           ? R"({},"writes_nothing":true)"
                : mode.starts_with("textures") ? R"({"unrecorded_reads":["surfaces","textures"]})"
                                               : "{}");
  if (mode == "devices") {
    launchOnDevices();
    return 0;
  }
  if (const char* library = std::getenv("MNEME_TEST_LIBRARY"))
    std::printf("library %d\n", dlopen(library, RTLD_NOW) != nullptr);
  void* data = nullptr;
  const size_t bytes = 1 << 20;
  std::printf("malloc %d\n", cudaMalloc(&data, bytes));
  std::memset(data, 0, bytes);
  for (int round = 0; round < 3; ++round)
    launch(static_cast<float*>(data), 1000 + round / 2);
  std::printf("value %g\n", static_cast<double>(static_cast<float*>(data)[5]));
  if (mode == "threads")
    launchFromThreads();
  if (mode.starts_with("waits"))
    launchOneThatWaits(mode != "waits-unseen", static_cast<float*>(data));
  if (mode == "mapped" || mode == "multicast")
    launchOnMapped(static_cast<float*>(data), mode == "multicast");
  if (mode == "pageable")
    launchOnPageable(static_cast<float*>(data));
  if (mode == "pageable-lost")
    launchBesideForeignHeap(static_cast<float*>(data));
  if (mode.starts_with("heap"))
    launchOnHeap(static_cast<float*>(data), mode == "heap-waits");
  if (mode == "textures")
    launchWithTextures(scale, static_cast<float*>(data));
  if (mode == "limits") {
    std::printf("limit %d\n", ofDriver("cuCtxSetLimit", 0, size_t{65536}));
    launch(static_cast<float*>(data), 50);
  }
  if (mode == "cache-configs")
    launchWithCacheConfigs(scale, static_cast<float*>(data));
  if (mode == "cache-configs-contexts")
    launchWithCacheConfigsOfContexts();
  if (mode == "cache-configs-unloads")
    launchAfterUnloads(other, static_cast<float*>(data));
  if (mode == "textures-levels")
    launchWithLevels(scale, static_cast<float*>(data));
  if (mode == "textures-graph")
    launchGraphWithTextures(scale, static_cast<float*>(data));
  if (mode == "textures-graph-own")
    launchInOwnContext(launchGraphWithTextures);
  if (mode == "textures-own")
    launchInOwnContext(launchWithTextures);
  if (mode == "own-contexts")
    launchInOwnContexts(static_cast<float*>(data));
  if (mode == "green-context")
    launchInGreenContext(static_cast<float*>(data));
  if (mode == "much")
    launchOnMuch();
  if (mode == "fork" || mode == "vfork")
    inChild(mode, data);
  if (mode == "fault")
    std::printf("launch %d sync %d\n", launch(static_cast<float*>(data), -1),
                cudaDeviceSynchronize());
  if (mode == "large") {
    void* large = nullptr;
    std::printf("large %d\n", cudaMalloc(&large, 16 << 20));
    launch(static_cast<float*>(large), 7);
    std::printf("free %d\n", cudaFree(large));
    launch(static_cast<float*>(data), 8);
  }
  if (mode != "fork")
    std::printf("free %d again %d null %d\n", cudaFree(data), cudaFree(data), cudaFree(nullptr));
  std::fflush(stdout);
  if (mode == "_exit")
    _exit(7);
  if (mode == "quick_exit")
    std::quick_exit(8);
  if (mode == "handler") {
    std::signal(SIGSEGV, [](int) { _exit(9); });
    raise(SIGSEGV);
  }
  if (mode == "abort")
    std::abort();
  if (mode == "exec")
    execl("/bin/echo", "echo", "replaced", static_cast<char*>(nullptr));
  return 0;
}
