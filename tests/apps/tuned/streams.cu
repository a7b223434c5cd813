// One kernel at once on several streams, from several threads, and on every default stream.
#include <thread>

#include "common.h"

__constant__ int weights[4] = {3, 1, 4, 1};
__device__ int offset = 11;

__global__ void mix(const int* in, int* out, int count, int factor) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[i] = in[i] * factor + weights[i % 4] + offset;
}

namespace {

constexpr int count = 20000;
constexpr size_t bytes = count * sizeof(int);

void work(int* data, int seed) {
  cudaStream_t stream;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int round = 0; round < 20; ++round)
    mix<<<8, 128, 0, stream>>>(data, data, count, seed + round);
  expect(cudaStreamSynchronize(stream));
  expect(cudaStreamDestroy(stream));
}

} // namespace

int main() {
  int* data[4];
  cudaStream_t streams[4];
  cudaEvent_t done[4];
  for (int i = 0; i < 4; ++i) {
    expect(cudaMalloc(&data[i], bytes));
    expect(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    expect(cudaEventCreate(&done[i]));
    expect(cudaMemsetAsync(data[i], i, bytes, streams[i]));
  }
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 4; ++i) {
      expect(cudaStreamWaitEvent(streams[i], done[(i + 3) % 4]));
      // The constant changes behind the last kernel that reads the old value.
      const int weight = round * 4 + i;
      expect(cudaMemcpyToSymbolAsync(weights, &weight, sizeof weight, (i % 4) * sizeof weight,
                                     cudaMemcpyHostToDevice, streams[i]));
      mix<<<16, 128, 0, streams[i]>>>(data[(i + 3) % 4], data[i], count, round + 2);
      expect(cudaEventRecord(done[i], streams[i]));
    }
  expect(cudaDeviceSynchronize());
  for (int* part : data)
    say("ordered by events", part, count);
  mix<<<16, 128>>>(data[0], data[1], count, 77);
  mix<<<16, 128, 0, cudaStreamLegacy>>>(data[1], data[2], count, 78);
  mix<<<16, 128, 0, cudaStreamPerThread>>>(data[2], data[3], count, 79);
  expect(cudaDeviceSynchronize());
  say("default streams", data[3], count);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(work, data[i], i);
  for (std::thread& thread : threads)
    thread.join();
  for (int* part : data)
    say("threads", part, count);
  for (int i = 0; i < 4; ++i) {
    expect(cudaEventDestroy(done[i]));
    expect(cudaStreamDestroy(streams[i]));
    expect(cudaFree(data[i]));
  }
  return finish("streams");
}
