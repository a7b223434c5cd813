// Launches on several devices by one call: on as many as there are, with kernels that differ, in
// every form and with every error. Prints the same text whether it is recorded or not.
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <hip/hip_cooperative_groups.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kCount = 512, kThreads = 128, kMost = 2;
constexpr dim3 kGrid(kCount / kThreads), kBlock(kThreads);
constexpr unsigned kNoWaits = 3;

void expect(hipError_t status) {
  if (status != hipSuccess) {
    std::printf("unexpected: %s\n", hipGetErrorName(status));
    std::exit(1);
  }
}

std::vector<int> download(const int* values) {
  std::vector<int> host(kCount);
  expect(hipMemcpy(host.data(), values, kCount * sizeof(int), hipMemcpyDeviceToHost));
  return host;
}

unsigned sumOf(const int* values) {
  unsigned sum = 0;
  for (const int value : download(values))
    sum = sum * 31 + unsigned(value);
  return sum;
}

/// What a thread has on every device.
struct Place {
  int* data[kMost] = {};
  hipStream_t stream[kMost] = {};
  int factor[kMost] = {};
  int count = kCount;
  void* arguments[kMost][3] = {};
  hipLaunchParams launches[kMost + 1] = {};
};

/// Newer than the oldest headers, as is the function that takes it.
struct FunctionLaunch {
  hipFunction_t function;
  dim3 grid, block;
  unsigned sharedBytes;
  hipStream_t stream;
  void** args;
};

template <typename Function> Function hip(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

int devices = 1;

} // namespace

__global__ void scale(int* values, int values_count, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < values_count)
    values[i] = values[i] * by + i;
}

__global__ void shift(int* values, int values_count, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < values_count)
    values[i] += by;
}

__global__ void wholeGrid(int* values, int values_count, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = values[(i + kThreads) % values_count];
  cooperative_groups::this_grid().sync();
  values[i] = next * by;
}

/// Grids of one launch meet: on one device there is one.
__global__ void allGrids(int* values, int values_count, int by) {
  const cooperative_groups::multi_grid_group all = cooperative_groups::this_multi_grid();
  const unsigned i = all.thread_rank();
  const int next = values[(i + kThreads) % values_count];
  all.sync();
  values[i] = all.is_valid() ? next * by + int(all.size()) : 0;
}

namespace {

void make(Place& place, int first) {
  for (int device = 0; device < devices; ++device) {
    expect(hipSetDevice(device));
    expect(hipMalloc(&place.data[device], kCount * sizeof(int)));
    expect(hipMemset(place.data[device], device + 1, kCount * sizeof(int)));
    expect(hipStreamCreate(&place.stream[device]));
    place.factor[device] = first + device;
    void* arguments[] = {&place.data[device], &place.count, &place.factor[device]};
    std::copy_n(arguments, 3, place.arguments[device]);
    place.launches[device] = {reinterpret_cast<void*>(&scale), kGrid, kBlock,
                              place.arguments[device],         0,     place.stream[device]};
  }
  expect(hipDeviceSynchronize());
}

void use(Place& place, void (*first)(int*, int, int), void (*others)(int*, int, int)) {
  for (int device = 0; device < devices; ++device)
    place.launches[device].func = reinterpret_cast<void*>(device == 0 ? first : others);
}

/// The thread's device and what the program may ask for afterwards are part of it.
void say(Place& place, const char* what, hipError_t status) {
  const hipError_t last = hipGetLastError();
  int device = -1;
  expect(hipGetDevice(&device));
  std::printf("%s: %s, %s on %d;", what, hipGetErrorName(status), hipGetErrorName(last), device);
  for (int of = 0; of < devices; ++of) {
    expect(hipSetDevice(of));
    const hipError_t waited = hipDeviceSynchronize();
    std::printf(" %u%s", sumOf(place.data[of]), waited == hipSuccess ? "" : " not waited");
    place.factor[of] += 2;
  }
  std::printf("\n");
  expect(hipSetDevice(device));
}

void refused(Place& place) {
  hipLaunchParams* const all = place.launches;
  say(place, "no list", hipExtLaunchMultiKernelMultiDevice(nullptr, 1, 0));
  say(place, "none", hipExtLaunchMultiKernelMultiDevice(all, 0, 0));
  say(place, "less than none", hipExtLaunchMultiKernelMultiDevice(all, -1, 0));
  say(place, "too many", hipExtLaunchMultiKernelMultiDevice(all, kMost + 7, 0));
  say(place, "unknown flags", hipExtLaunchMultiKernelMultiDevice(all, 1, 4));
  hipLaunchParams list[kMost];
  std::copy_n(all, kMost, list);
  if (devices > 1) {
    list[1].stream = list[0].stream;
    say(place, "two on one device", hipLaunchCooperativeKernelMultiDevice(list, 2, 0));
    list[1].stream = nullptr;
    say(place, "the second without a stream", hipLaunchCooperativeKernelMultiDevice(list, 2, 0));
    std::copy_n(all, kMost, list);
    list[0].func = list[1].func = reinterpret_cast<void*>(&scale);
    list[1].blockDim.x = 2048;
    say(place, "the second too large", hipExtLaunchMultiKernelMultiDevice(list, 2, 0));
    std::copy_n(all, kMost, list);
  }
  list[0].stream = nullptr;
  say(place, "without a stream", hipLaunchCooperativeKernelMultiDevice(list, devices, 0));
  list[0] = all[0];
  list[0].blockDim.x = 0;
  say(place, "without threads", hipLaunchCooperativeKernelMultiDevice(list, devices, 0));
  list[0] = all[0];
  list[0].gridDim.x = 1 << 20;
  list[1].gridDim.x = 1 << 20;
  say(place, "too large", hipLaunchCooperativeKernelMultiDevice(list, devices, 0));
  list[0] = all[0];
  list[0].func = nullptr;
  say(place, "without a kernel", hipExtLaunchMultiKernelMultiDevice(list, devices, 0));
}

void captured(Place& place) {
  hipGraph_t graph{};
  const hipError_t began = hipStreamBeginCapture(place.stream[0], hipStreamCaptureModeRelaxed);
  const hipError_t launched = hipExtLaunchMultiKernelMultiDevice(place.launches, devices, kNoWaits);
  const hipError_t ended = hipStreamEndCapture(place.stream[0], &graph);
  std::printf("in a capture: %s, %s, %s\n", hipGetErrorName(began), hipGetErrorName(launched),
              hipGetErrorName(ended));
  say(place, "after it", hipSuccess);
}

void byHandles(Place& place) {
  using FunctionOf = hipError_t (*)(hipFunction_t*, const void*);
  FunctionLaunch launches[kMost]{};
  for (int device = 0; device < devices; ++device) {
    expect(hipSetDevice(device));
    hipFunction_t function{};
    expect(hip<FunctionOf>("hipGetFuncBySymbol")(&function,
                                                 reinterpret_cast<const void*>(&wholeGrid)));
    launches[device] = {function, kGrid, kBlock, 0, place.stream[device], place.arguments[device]};
  }
  const auto launch = hip<hipError_t (*)(FunctionLaunch*, unsigned, unsigned)>(
      "hipModuleLaunchCooperativeKernelMultiDevice");
  say(place, "by handles", launch(launches, devices, 0));
  say(place, "no list of handles", launch(nullptr, 1, 0));
}

void inThreads() {
  constexpr int threads = 4, rounds = 10;
  std::vector<std::thread> running;
  std::vector<unsigned> sums(threads);
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([thread, &sums] {
      Place place;
      make(place, 2 + thread);
      for (int round = 0; round < rounds; ++round)
        expect(hipExtLaunchMultiKernelMultiDevice(place.launches, devices, 0));
      for (int device = 0; device < devices; ++device)
        sums[thread] = sums[thread] * 7 + sumOf(place.data[device]);
    });
  for (std::thread& thread : running)
    thread.join();
  for (const unsigned sum : sums)
    std::printf("%u\n", sum);
}

} // namespace

int main(int count, char**) {
  expect(hipGetDeviceCount(&devices));
  devices = std::min(devices, kMost);
  std::printf("%d devices\n", devices);
  if (count > 1) {
    inThreads();
    return 0;
  }
  Place place;
  make(place, 3);
  expect(hipSetDevice(0));
  hipLaunchParams* const all = place.launches;
  say(place, "each", hipExtLaunchMultiKernelMultiDevice(all, devices, 0));
  say(place, "without waiting", hipExtLaunchMultiKernelMultiDevice(all, devices, kNoWaits));
  use(place, wholeGrid, wholeGrid);
  say(place, "together", hipLaunchCooperativeKernelMultiDevice(all, devices, 0));
  expect(hipSetDevice(devices - 1));
  say(place, "from the last device", hipLaunchCooperativeKernelMultiDevice(all, 1, 0));
  expect(hipSetDevice(0));
  use(place, scale, shift);
  say(place, "kernels that differ", hipExtLaunchMultiKernelMultiDevice(all, devices, 0));
  say(place, "together, but differ", hipLaunchCooperativeKernelMultiDevice(all, devices, 0));
  use(place, wholeGrid, wholeGrid);
  refused(place);
  captured(place);
  byHandles(place);
  use(place, allGrids, allGrids);
  std::vector<int> wanted = download(place.data[0]);
  std::rotate(wanted.begin(), wanted.begin() + kThreads, wanted.end());
  for (int& value : wanted)
    value = int(unsigned(value) * unsigned(place.factor[0]) + kCount);
  say(place, "grids that meet", hipLaunchCooperativeKernelMultiDevice(all, 1, 0));
  std::printf("%s\n", download(place.data[0]) == wanted ? "as they should" : "wrongly");
}
