// Launches CUDA refuses, and the error state of the thread afterwards.
#include <string_view>
#include <thread>

#include "check.h"

__global__ void nothing(int* output) {
  if (output)
    output[0] = 1;
}

__global__ void __launch_bounds__(64) bounded() {}

__global__ void parameters(int a, double b, char c, float* d) {
  if (d)
    *d = static_cast<float>(a + b + c);
}

// CUDA documents cudaErrorInvalidConfiguration; a runtime 13.0 on an H200 said InvalidValue.
void expectRefused(std::source_location at = std::source_location::current()) {
  const cudaError_t status = cudaPeekAtLastError();
  check(status == cudaErrorInvalidConfiguration || status == cudaErrorInvalidValue,
        "an impossible launch is refused at once", at);
  expect(cudaGetLastError(), status, at);
  expect(cudaGetLastError(), cudaSuccess, at);
}

int main() {
  nothing<<<1, 2048>>>(nullptr);
  expectRefused();
  nothing<<<0, 32>>>(nullptr);
  expectRefused();
  nothing<<<dim3(1, 70000), 32>>>(nullptr);
  expectRefused();
  nothing<<<1, dim3(1, 1, 65)>>>(nullptr);
  expectRefused();
  nothing<<<1, 32, 64 * 1024>>>(nullptr);
  expect(cudaGetLastError(), cudaErrorInvalidValue);
  bounded<<<1, 65>>>();
  check(cudaGetLastError() != cudaSuccess, "more threads than the launch bound");
  bounded<<<1, 64>>>();
  expectLaunched();
  std::thread other([] { expect(cudaGetLastError()); });
  nothing<<<1, 2048>>>(nullptr);
  other.join();
  expectRefused();

  float* output = nullptr;
  expect(cudaMallocManaged(&output, 4));
  parameters<<<1, 1>>>(1, 2.5, 3, output);
  expectLaunched();
  check(*output == 6.5f, "launches still work");
  expect(cudaFree(output));

  cudaFuncAttributes attributes{};
  expect(cudaFuncGetAttributes(&attributes, bounded));
  check(attributes.maxThreadsPerBlock == 64, "launch bounds");
  expect(cudaFuncGetAttributes(&attributes, nothing));
  check(attributes.maxThreadsPerBlock == 1024 && attributes.sharedSizeBytes == 0, "attributes");
  const char* name = nullptr;
  expect(cudaFuncGetName(&name, reinterpret_cast<const void*>(parameters)));
  check(name && std::string_view(name) == "_Z10parametersidcPf", "mangled name");
  size_t offset = 0, bytes = 0;
  expect(cudaFuncGetParamInfo(reinterpret_cast<const void*>(parameters), 1, &offset, &bytes));
  check(offset == 8 && bytes == 8, "parameter offset and size");
  int blocks = 0, best = 0, smallestGrid = 0;
  expect(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0));
  check(blocks == 8, "2048 threads on a multiprocessor");
  expect(cudaOccupancyMaxPotentialBlockSize(&smallestGrid, &best, nothing, 0, 0));
  check(best >= 256 && best <= 1024 && smallestGrid >= 1, "block size helper");
  return finish("launch_errors");
}
