// Prints a sum, and times so coarse that all runs as built print the same: only another speed shows
// that they are none of its results.
//   coarse_times                    right, with one launch, which is not timed
//   coarse_times right [LAUNCHES]   the same, and times as many launches
//   coarse_times wrong [LAUNCHES]   prints another sum if kernels are tuned
//   coarse_times refused            launches blocks that are too large, and says nothing of it
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>

__global__ void churn(const float* in, float* out, int n, int rounds, unsigned factor,
                      unsigned summand) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  auto value = static_cast<unsigned>(in[i]) + i;
  for (int round = 0; round < rounds; ++round)
    value = value * factor + summand;
  out[i] = value & 1023;
}

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const int launches = argc > 2 ? std::atoi(argv[2]) : 0;
  constexpr int n = 1 << 22, rounds = 100;
  constexpr float coarse = 25; // milliseconds
  std::vector<float> host(n, 1.0f);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  if (how == "refused") {
    churn<<<n / 4096, 4096>>>(in, out, n, rounds, 1664525, 1013904223);
    cudaDeviceSynchronize();
    std::puts("done");
    return 0;
  }
  cudaEvent_t began, ended;
  cudaEventCreate(&began);
  cudaEventCreate(&ended);
  churn<<<n / 256, 256>>>(in, out, n, rounds, 1664525, 1013904223);
  cudaEventRecord(began);
  for (int launch = 0; launch < launches; ++launch)
    churn<<<n / 256, 256>>>(in, out, n, rounds, 1664525, 1013904223);
  cudaEventRecord(ended);
  cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, began, ended);
  if (cudaGetLastError() != cudaSuccess)
    return 2;
  double sum = 0;
  for (const float value : host)
    sum += value;
  const bool isWrong = how == "wrong" && std::getenv("PROTEUS_TUNED_KERNELS") != nullptr;
  std::printf("kernel execution time: %d units\n", static_cast<int>(milliseconds / coarse));
  std::printf("sum %.0f\n", isWrong ? sum + 1 : sum);
}
