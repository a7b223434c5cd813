// Device and constant variables: initial values, copies, addresses, pointers between them.
#include "check.h"

__constant__ float coefficients[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__constant__ int uploaded[8];
__device__ int counter = 41;
__device__ int table[5] = {10, 20, 30, 40, 50};
__device__ int* link = &table[2];
__device__ double early = 2.5;
static __device__ int onlyOnDevice = 7;
__device__ const char* const words[2] = {"alpha", "be"};

struct Node {
  int value;
  Node* next;
};
__device__ Node tail = {3, nullptr};
__device__ Node head = {1, &tail};

__global__ void read(float* floats, int* ints) {
  for (int i = 0; i < 4; ++i)
    floats[i] = coefficients[i];
  for (int i = 0; i < 8; ++i)
    ints[i] = uploaded[i];
  ints[8] = counter;
  ints[9] = *link;
  ints[10] = head.value + head.next->value;
  ints[11] = words[0][4] + words[1][1];
  ints[12] = onlyOnDevice + static_cast<int>(early) - 2;
}

__global__ void change() {
  atomicAdd(&counter, 1);
  if (threadIdx.x == 0) {
    atomicAdd(&onlyOnDevice, 5);
    link = &table[4];
    head.next->value = 30;
  }
}

__global__ void readPointer(const int* pointer, int* output) { *output = pointer[1]; }

int main() {
  Buffer<float> floats(4);
  Buffer<int> ints(13);
  double kept = 0;
  expect(cudaMemcpyFromSymbol(&kept, early, sizeof kept));
  check(kept == 2.5, "initial value before any launch");
  int values[8];
  for (int i = 0; i < 8; ++i)
    values[i] = i * i;
  expect(cudaMemcpyToSymbol(uploaded, values, sizeof values));
  expect(cudaMemcpyToSymbol(coefficients, values + 3, 4, 8));
  read<<<1, 1>>>(floats.device(), ints.device());
  expectLaunched();
  floats.download();
  ints.download();
  check(floats[0] == 1 && floats[1] == 2 && floats[3] == 4, "constant array, rest untouched");
  for (int i = 0; i < 8; ++i)
    check(ints[i] == i * i, "uploaded constants");
  check(ints[8] == 41 && ints[9] == 30 && ints[10] == 4, "initial values");
  check(ints[11] == 'a' + 'e' && ints[12] == 7, "strings and device-only variable");

  change<<<2, 32>>>();
  expectLaunched();
  read<<<1, 1>>>(floats.device(), ints.device());
  expectLaunched();
  ints.download();
  check(ints[8] == 105 && ints[9] == 50 && ints[10] == 31, "one storage for all kernels");
  check(ints[12] == 17, "device-only variable is shared by kernels");

  void* address = nullptr;
  size_t bytes = 0;
  expect(cudaGetSymbolAddress(&address, table));
  expect(cudaGetSymbolSize(&bytes, table));
  check(bytes == 20, "symbol size");
  Buffer<int> output(1);
  readPointer<<<1, 1>>>(static_cast<int*>(address), output.device());
  expectLaunched();
  output.download();
  check(output[0] == 20, "symbol address");
  int number = 0;
  expect(cudaMemcpyFromSymbol(&number, table, 4, 12));
  check(number == 40, "copy with offset");
  expect(cudaMemcpyFromSymbol(&number, table, 4, 20), cudaErrorInvalidValue);
  expect(cudaGetLastError(), cudaErrorInvalidValue);
  number = 99;
  expect(cudaMemcpyToSymbolAsync(table, &number, 4, 4, cudaMemcpyHostToDevice, nullptr));
  readPointer<<<1, 1>>>(static_cast<int*>(address), output.device());
  expectLaunched();
  output.download();
  check(output[0] == 99, "copy to symbol with offset");
  return finish("globals");
}
