// What frees say about pointers that are not theirs, error state, reset and a second life.
#include "common.h"

namespace {

void useDevice(const char* name) {
  constexpr int count = 3000;
  int* data = nullptr;
  expect(cudaMalloc(&data, count * sizeof(int)));
  expect(cudaMemset(data, 1, count * sizeof(int)));
  scale<<<4, 128>>>(data, data, count, 9);
  expectLaunched();
  say(name, download(data, count));
  cudaPointerAttributes attributes{};
  expect(cudaPointerGetAttributes(&attributes, data + 5));
  check(attributes.type == cudaMemoryTypeDevice, "it is device memory");
  check(attributes.device == 0, "of the first device");
  check(attributes.devicePointer == data + 5, "seen by the device at the same address");
  expect(cudaFree(data));
}

} // namespace

int main() {
  expect(cudaFree(nullptr));
  useDevice("first life");
  int onStack = 0;
  expect(cudaFree(&onStack), cudaErrorInvalidValue);
  expect(cudaGetLastError(), cudaErrorInvalidValue);
  int* data = nullptr;
  expect(cudaMalloc(&data, 4096));
  expect(cudaFree(data + 1), cudaErrorInvalidValue); // inside, not at the start
  cudaGetLastError();
  expect(cudaFree(data));
  expect(cudaFree(data), cudaErrorInvalidValue); // again
  cudaGetLastError();
  expect(cudaMalloc(&data, 0));
  check(data == nullptr, "nothing was allocated for nothing");
  expect(cudaMalloc(nullptr, 16), cudaErrorInvalidValue);
  cudaGetLastError();
  // An error the program has not asked for yet outlives launches that succeed.
  expect(cudaMemcpy(nullptr, &onStack, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect(cudaPeekAtLastError(), cudaErrorInvalidValue);
  cudaGetLastError();
  useDevice("between");
  expect(cudaDeviceReset());
  useDevice("second life");
  expect(cudaDeviceReset());
  expect(cudaFree(data));
  return finish("lifetime");
}
