// Kernels that wait for what the program does once they are launched: alone each ends at once. The
// argument says how the program goes on; before and behind the kernel there is one that waits for
// nothing.
#pragma once

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

constexpr int kCount = 64, kThreads = 3;

/// Waits until as many have signalled, then changes `data`.
__global__ void waitFor(volatile int* flag, int wanted, int* data) {
  while (*flag < wanted) {
  }
  __threadfence_system();
  data[blockIdx.x * blockDim.x + threadIdx.x] += wanted;
}

/// The same, not to be recorded.
__global__ void waitUnseen(volatile int* flag, int wanted, int* data) {
  while (*flag < wanted) {
  }
  __threadfence_system();
  data[blockIdx.x * blockDim.x + threadIdx.x] += wanted;
}

__global__ void raise(int* flag, int by) { atomicAdd(flag, by); }

__global__ void scale(int* data, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = data[i] * factor + i;
}

namespace {

int failed = 0;

void expect(cudaError_t status) {
  if (status != cudaSuccess)
    std::printf("failed: %s\n", cudaGetErrorName(status));
  failed += status != cudaSuccess;
}

struct Place {
  int *flag = nullptr, *data = nullptr;
  cudaStream_t first = nullptr, second = nullptr;
};

/// Host threads that are started behind the launch; one comes late.
void signalByThreads(int* flag) {
  std::vector<std::thread> threads;
  for (int index = 0; index < kThreads; ++index)
    threads.emplace_back([flag] { __atomic_fetch_add(flag, 1, __ATOMIC_SEQ_CST); });
  for (std::thread& thread : threads)
    thread.join();
}

void copy(const Place& place) {
  static const int one = 1;
  waitFor<<<1, kCount, 0, place.first>>>(place.flag, 1, place.data);
  expect(cudaMemcpyAsync(place.flag, &one, sizeof one, cudaMemcpyHostToDevice, place.second));
}

void fill(const Place& place) {
  waitFor<<<1, kCount, 0, place.first>>>(place.flag, 1, place.data);
  expect(cudaMemsetAsync(place.flag, 1, sizeof(int), place.second));
}

void managed(const Place& place) {
  int* flag = nullptr;
  expect(cudaMallocManaged(reinterpret_cast<void**>(&flag), sizeof(int), cudaMemAttachGlobal));
  *flag = 0;
  waitFor<<<1, kCount>>>(flag, kThreads, place.data);
  signalByThreads(flag);
}

void pinned(const Place& place) {
  int *flag = nullptr, *device = nullptr;
  expect(cudaHostAlloc(reinterpret_cast<void**>(&flag), sizeof(int), cudaHostAllocMapped));
  expect(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), flag, 0));
  *flag = 0;
  waitFor<<<1, kCount>>>(device, kThreads, place.data);
  signalByThreads(flag);
}

void otherStream(const Place& place) {
  cudaFuncAttributes attributes;
  // Code is loaded when it is first needed, and not while a kernel runs.
  expect(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&raise)));
  waitFor<<<1, kCount, 0, place.first>>>(place.flag, 2, place.data);
  raise<<<1, 1, 0, place.second>>>(place.flag, 2);
}

void cooperative(const Place& place) {
  volatile int* flag = place.flag;
  int *data = place.data, wanted = 1;
  void* arguments[] = {&flag, &wanted, &data};
  expect(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&waitFor), dim3(2),
                                     dim3(kCount / 2), arguments, 0, place.first));
  expect(cudaMemsetAsync(place.flag, 1, sizeof(int), place.second));
}

/// What waits was launched earlier and is not recorded, the launch that is comes behind it.
void earlier(const Place& place) {
  waitUnseen<<<1, kCount, 0, place.first>>>(place.flag, 1, place.data);
  for (int factor = 11; factor < 14; ++factor)
    scale<<<1, kCount, 0, place.second>>>(place.data + kCount, factor);
  expect(cudaMemsetAsync(place.flag, 1, sizeof(int), place.second));
}

/// Freed memory is not waited for, either.
void freed(const Place& place) {
  int* more = nullptr;
  expect(cudaMallocAsync(reinterpret_cast<void**>(&more), 1 << 20, place.second));
  waitFor<<<1, kCount, 0, place.first>>>(place.flag, 1, place.data);
  expect(cudaFreeAsync(more, place.second));
  expect(cudaMallocAsync(reinterpret_cast<void**>(&more), 1 << 22, place.second));
  expect(cudaMemsetAsync(place.flag, 1, sizeof(int), place.second));
}

void byHandle(const Place& place) {
  volatile int* flag = place.flag;
  int *data = place.data, wanted = 1;
  void* arguments[] = {&flag, &wanted, &data};
  expect(launchByHandle(reinterpret_cast<const void*>(&waitFor), kCount, place.first, arguments));
  expect(cudaMemsetAsync(place.flag, 1, sizeof(int), place.second));
}

/// The kernel goes on when the program ends.
void leave(const Place& place) { waitFor<<<1, kCount>>>(place.flag, 1, place.data); }

struct Way {
  const char* name;
  void (*run)(const Place& place);
};
constexpr Way kWays[] = {{"copy", copy},
                         {"fill", fill},
                         {"managed", managed},
                         {"pinned", pinned},
                         {"other-stream", otherStream},
                         {"cooperative", cooperative},
                         {"earlier", earlier},
                         {"freed", freed},
                         {"by-handle", byHandle},
                         {"leave", leave}};

Place makePlace() {
  Place place;
  expect(cudaMalloc(reinterpret_cast<void**>(&place.flag), sizeof(int)));
  expect(cudaMemset(place.flag, 0, sizeof(int)));
  expect(cudaMalloc(reinterpret_cast<void**>(&place.data), 2 * kCount * sizeof(int)));
  expect(cudaMemset(place.data, 0, 2 * kCount * sizeof(int)));
  for (cudaStream_t* stream : {&place.first, &place.second})
    expect(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  expect(cudaDeviceSynchronize());
  return place;
}

void run(const Way& way) {
  const Place place = makePlace();
  scale<<<1, kCount>>>(place.data, 2);
  way.run(place);
  if (way.run != leave) {
    expect(cudaDeviceSynchronize());
    scale<<<1, kCount>>>(place.data, 3);
    std::vector<int> data(2 * kCount);
    expect(cudaMemcpy(data.data(), place.data, data.size() * sizeof(int), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (const int value : data)
      sum = sum * 31 + static_cast<unsigned>(value);
    std::printf("%s: %u\n", way.name, sum);
  }
}

} // namespace

int main(int argc, char** argv) {
  for (const Way& way : kWays)
    if (argc > 1 && std::strcmp(argv[1], way.name) == 0)
      run(way);
  std::printf("failed %d\n", failed);
  return failed;
}
