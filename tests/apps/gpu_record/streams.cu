// Several streams at work at once, ordered by events; the legacy and the per-thread default stream.
#include <thread>

#include "common.h"

namespace {

constexpr int count = 40000;
constexpr size_t bytes = count * sizeof(int);

void perThread(int* data, int factor) {
  scale<<<16, 128, 0, cudaStreamPerThread>>>(data, data, count, factor);
  expect(cudaStreamSynchronize(cudaStreamPerThread));
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
      scale<<<32, 128, 0, streams[i]>>>(data[(i + 3) % 4], data[i], count, round + 2);
      expect(cudaEventRecord(done[i], streams[i]));
    }
  expect(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i)
    say("stream", download(data[i], count));
  scale<<<16, 128>>>(data[0], data[1], count, 77);
  scale<<<16, 128, 0, cudaStreamLegacy>>>(data[1], data[2], count, 78);
  expect(cudaDeviceSynchronize());
  say("legacy", download(data[2], count));
  std::thread first(perThread, data[0], 5), second(perThread, data[3], 6);
  first.join();
  second.join();
  say("per thread", download(data[0], count));
  say("per thread", download(data[3], count));
  for (int i = 0; i < 4; ++i) {
    expect(cudaEventDestroy(done[i]));
    expect(cudaStreamDestroy(streams[i]));
    expect(cudaFree(data[i]));
  }
  return finish("streams");
}
