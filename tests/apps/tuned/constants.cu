// Constants written in every way, each read at once, a while later, and after many launches: tuned
// kernels copy them, but not in front of every launch.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "common.h"

__constant__ int told[4] = {1, 2, 3, 4};      // by cudaMemcpyToSymbol() alone
__constant__ int later[4] = {5, 6, 7, 8};     // asynchronously
__constant__ int somewhere[4] = {9, 8, 7, 6}; // through its address

__global__ void readTold(int* out) { out[threadIdx.x] = told[threadIdx.x % 4]; }
__global__ void readLater(int* out) { out[threadIdx.x] = later[threadIdx.x % 4]; }
__global__ void readSomewhere(int* out) { out[threadIdx.x] = somewhere[threadIdx.x % 4]; }
__global__ void readAll(int* out) {
  const int i = threadIdx.x % 4;
  out[threadIdx.x] = told[i] + 100 * later[i] + 10000 * somewhere[i];
}

int* out = nullptr;

void show(const char* when) {
  const auto each = [&](auto kernel, const char* name) {
    kernel<<<1, 8>>>(out);
    expectLaunched();
    std::printf("%s: ", when);
    say(name, out, 8);
  };
  each(readTold, "told");
  each(readLater, "later");
  each(readSomewhere, "somewhere");
  each(readAll, "all");
}

void showForAWhile() {
  show("at once");
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    for (int launch = 0; launch < 20; ++launch)
      readTold<<<1, 8>>>(out), readAll<<<1, 8>>>(out);
  }
  show("a while later");
}

int main() {
  expect(cudaMalloc(&out, 8 * sizeof(int)));
  showForAWhile();
  cudaStream_t stream;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int values[4] = {}, *somewhereElse = nullptr;
  expect(cudaGetSymbolAddress(reinterpret_cast<void**>(&somewhereElse), somewhere));
  for (int round = 1; round <= 3; ++round) {
    for (int& value : values)
      value += round + static_cast<int>(&value - values);
    expect(cudaMemcpyToSymbol(told, values, sizeof values));
    showForAWhile();
    expect(
        cudaMemcpyToSymbolAsync(later, values, sizeof values, 0, cudaMemcpyHostToDevice, stream));
    expect(cudaStreamSynchronize(stream));
    showForAWhile();
    expect(cudaMemcpy(somewhereElse, values, sizeof values, cudaMemcpyHostToDevice));
    showForAWhile();
    // A part, read on another stream.
    const int one = 77 + round;
    expect(cudaMemcpyToSymbol(told, &one, sizeof one, sizeof(int)));
    expect(cudaDeviceSynchronize());
    readAll<<<1, 8, 0, stream>>>(out);
    expect(cudaStreamSynchronize(stream));
    say("on a stream", out, 8);
    int back[4];
    expect(cudaMemcpyFromSymbol(back, told, sizeof back));
    std::printf("%d %d %d %d\n", back[0], back[1], back[2], back[3]);
  }
  return finish("constants");
}
