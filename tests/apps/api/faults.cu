// What goes wrong inside a kernel surfaces at the next synchronising call and stays.
// Usage: faults assert|trap|address|reset|stall|mask|refused; reset needs a device that recovers by
// one, stall one that notices a kernel that waits for ever, mask one that notices a lane outside
// the mask it gives, refused one that does not know an instruction of the kernel.
#include <cassert>
#include <cstring>

#include "check.h"

__global__ void failAssert(int* output) {
  assert(threadIdx.x != 3 || output == nullptr);
  output[threadIdx.x] = 1;
}

__global__ void failTrap(int* output) {
  if (threadIdx.x == 3)
    __trap();
  output[threadIdx.x] = 1;
}

__global__ void failAddress(int* output) {
  if (threadIdx.x == 3)
    output = reinterpret_cast<int*>(16);
  output[threadIdx.x] = 1;
}

__global__ void failStall(volatile int* output) {
  while (output[0] != blockIdx.x + 1) // nobody writes it
    ;
}

__global__ void failMask(int* output) {
  const unsigned below = (1u << threadIdx.x) - 1;
  output[threadIdx.x] = __popc(__ballot_sync(below, threadIdx.x % 2));
}

__global__ void failRefused(int* output) {
  asm volatile("pmevent 1;");
  output[threadIdx.x] = 1;
}

void recover() {
  int* memory = nullptr;
  expect(cudaDeviceReset());
  cudaGetLastError();
  expect(cudaMalloc(reinterpret_cast<void**>(&memory), 128));
  expect(cudaMemset(memory, 0, 128));
  failAssert<<<1, 3>>>(memory); // three threads do not reach the assertion
  expectLaunched();
  expect(cudaFree(memory));
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "trap";
  int* output = nullptr;
  expect(cudaMalloc(reinterpret_cast<void**>(&output), 32 * sizeof(int)));
  cudaError_t expected = cudaErrorLaunchFailure, atLaunch = cudaSuccess;
  if (std::strcmp(kind, "assert") == 0) {
    failAssert<<<1, 32>>>(output);
    expected = cudaErrorAssert;
  } else if (std::strcmp(kind, "stall") == 0) {
    failStall<<<3, 32>>>(output);
    expected = cudaErrorLaunchTimeout;
  } else if (std::strcmp(kind, "mask") == 0) {
    failMask<<<1, 32>>>(output);
  } else if (std::strcmp(kind, "refused") == 0) {
    failRefused<<<1, 32>>>(output);
    expected = atLaunch = cudaErrorNotSupported;
  } else if (std::strcmp(kind, "address") != 0) {
    failTrap<<<1, 32>>>(output);
  } else {
    failAddress<<<1, 32>>>(output);
    expected = cudaErrorIllegalAddress;
  }
  expect(cudaGetLastError(), atLaunch);
  expect(cudaDeviceSynchronize(), expected);
  expect(cudaPeekAtLastError(), expected);
  expect(cudaGetLastError(), expected);
  void* pointer = nullptr;
  expect(cudaMalloc(&pointer, 16), expected);
  expect(cudaDeviceSynchronize(), expected);
  int device = -1;
  expect(cudaGetDevice(&device));
  expect(cudaSetDevice(device));
  if (std::strcmp(kind, "reset") == 0)
    recover();
  std::printf("faults %s: %s\n", kind, failedChecks ? "FAILED" : "ok");
  std::fflush(stdout);
  return failedChecks;
}
