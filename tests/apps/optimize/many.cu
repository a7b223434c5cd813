// 30 kernels of which two take nearly all time. Built without optimisation, so that there is
// something to gain. What it prints differs in one word from run to run; the first argument chooses
// what is unusual:
//   many          nothing
//   many pid      prints its process number as well
//   many lines    prints another number of lines each time
//   many heavy    aborts if the kernel `heavy` is tuned
//   many wrong    prints another number if kernels are tuned
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include <cuda_runtime.h>

template <int Which> __global__ void light(float* data) { data[threadIdx.x] += Which; }

__global__ void heavy(const float* in, float* out, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const int at = (i + round) % n;
    sum += in[at] * 0.5f;
  }
  out[i] = sum;
}

__global__ void middle(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 32; ++round)
    if (i < n)
      data[i] = data[i] * 0.999f + 0.001f;
}

template <int Which> void launchLight(float* data) {
  light<Which><<<1, 32>>>(data);
  if constexpr (Which > 0)
    launchLight<Which - 1>(data);
}

std::string tunedFile() {
  std::ifstream file(std::getenv("PROTEUS_TUNED_KERNELS"));
  return {std::istreambuf_iterator<char>(file), {}};
}

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const int n = 1 << 14;
  std::vector<float> host(n, 1.0f);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  for (int step = 0; step < 6; ++step) {
    heavy<<<n / 128, 128>>>(in, out, n, 150);
    middle<<<n / 128, 128>>>(out, n);
    launchLight<27>(in);
  }
  cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess)
    return 2;
  const bool isTuned = std::getenv("PROTEUS_TUNED_KERNELS") != nullptr;
  if (how == "heavy" && isTuned && tunedFile().find("heavy") != std::string::npos)
    std::abort();
  double sum = 0;
  for (const float value : host)
    sum += value;
  std::printf("sum %.6f\n", how == "wrong" && isTuned ? sum + 1 : sum);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (how == "pid")
    std::printf("at %lld by %d\n", static_cast<long long>(now.tv_nsec), getpid());
  for (long line = 0; how == "lines" && line < now.tv_nsec % 1000; ++line)
    std::printf("line %ld\n", line);
}
