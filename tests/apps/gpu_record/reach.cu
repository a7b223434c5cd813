// Memory that kernels reach only through pointers in memory: device variables, pinned and
// registered host memory, managed memory; from each to each.
#include <cstdint>
#include <cstdlib>

#include "common.h"

namespace {

constexpr int kBlocks = 24, kThreads = 64;

struct Node {
  Node* next;
  int* values; // of another block of memory
  long weight;
};

} // namespace

// The scan's kernel knows its flags and sums by a pointer in a variable only.
struct ScanState {
  unsigned* flags;
  int* sums;
};
__device__ unsigned scanFlags[kBlocks];
static __device__ int scanSums[kBlocks];
__device__ ScanState* scanState;
__device__ ScanState scanStorage;

__global__ void prepareScan() {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    scanStorage = {scanFlags, scanSums};
    scanState = &scanStorage;
  }
  if (threadIdx.x < kBlocks) {
    scanFlags[threadIdx.x] = 0;
    scanSums[threadIdx.x] = 100;
  }
}

/// Prefix sum in one pass: every block waits for the one before it.
__global__ void scan(const int* in, int* out, int first) {
  __shared__ int before;
  const ScanState state = *scanState;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < kThreads; ++k)
      sum += in[blockIdx.x * kThreads + k];
    before = 0;
    if (blockIdx.x > 0) {
      auto* flag = static_cast<volatile unsigned*>(state.flags + blockIdx.x - 1);
      while (*flag == 0) {
      }
      __threadfence();
      before = static_cast<volatile int*>(state.sums)[blockIdx.x - 1] - 100;
    }
    static_cast<volatile int*>(state.sums)[blockIdx.x] = before + sum + 100;
    __threadfence();
    static_cast<volatile unsigned*>(state.flags)[blockIdx.x] = 1;
  }
  __syncthreads();
  int sum = before + first;
  for (int k = 0; k <= threadIdx.x; ++k)
    sum += in[blockIdx.x * kThreads + k];
  out[i] = sum;
}

// A list whose head is a device variable; its nodes and what they point to are anywhere.
__device__ Node* head;
__device__ int direct[32];
__constant__ int scales[4];

__global__ void walk(int* out, int start) {
  int sum = start;
  for (Node* node = head; node; node = node->next) {
    for (int i = 0; i < 32; ++i)
      sum += node->values[i] * static_cast<int>(node->weight);
    node->weight += 1;
    node->values[3] += 7;
  }
  *out = sum;
}

// A structure given by value leads to a table in device memory, that to rows of host memory.
struct Matrix {
  int** rows;
  int count;
};

__global__ void addRows(Matrix matrix, int* out) {
  for (int i = threadIdx.x; i < 32; i += blockDim.x) {
    out[i] = 0;
    for (int row = 0; row < matrix.count; ++row)
      out[i] += matrix.rows[row][i];
    matrix.rows[0][i] += 1;
  }
}

// An address that is given as a number, and one into the middle with a tag in its lowest bit.
__global__ void untag(unsigned long long address, int* out) {
  const auto* slot = reinterpret_cast<const unsigned long long*>(address);
  *out = *reinterpret_cast<const int*>(*slot & ~1ull) + static_cast<int>(*slot & 1);
}

namespace {

int* filled(int* values, int first) {
  for (int i = 0; i < 32; ++i)
    values[i] = first + i;
  return values;
}

template <typename T> T* pinned(int count = 1) {
  T* memory = nullptr;
  expect(cudaMallocHost(reinterpret_cast<void**>(&memory), count * sizeof(T)));
  return memory;
}

template <typename T> T* onDevice(const T* source, int count) {
  T* memory = nullptr;
  expect(cudaMalloc(&memory, count * sizeof(T)));
  expect(cudaMemcpy(memory, source, count * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

template <typename T> T* addressOf(const void* symbol) {
  void* address = nullptr;
  expect(cudaGetSymbolAddress(&address, symbol));
  return static_cast<T*>(address);
}

void scanOnce() {
  std::vector<int> in(kBlocks * kThreads);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<int>(i * 7 % 13);
  int* source = onDevice(in.data(), static_cast<int>(in.size()));
  int* out = nullptr;
  expect(cudaMalloc(&out, in.size() * sizeof(int)));
  for (int round = 0; round < 2; ++round) {
    prepareScan<<<1, kThreads>>>();
    scan<<<kBlocks, kThreads>>>(source, out, round);
    expectLaunched();
    say("scan", download(out, static_cast<int>(in.size())));
  }
  expect(cudaFree(source));
  expect(cudaFree(out));
}

void walkOnce() {
  const int factors[4] = {2, 3, 5, 7};
  expect(cudaMemcpyToSymbol(scales, factors, sizeof(factors)));
  int rows[32];
  expect(cudaMemcpyToSymbol(direct, filled(rows, 900), sizeof(rows)));
  int *managed = nullptr, *out = nullptr;
  expect(cudaMallocManaged(&managed, sizeof(rows)));
  expect(cudaMalloc(&out, sizeof(int)));
  auto* registered = static_cast<int*>(std::aligned_alloc(4096, 4096));
  expect(cudaHostRegister(registered, 4096, cudaHostRegisterMapped));
  int* seen = nullptr;
  expect(cudaHostGetDevicePointer(reinterpret_cast<void**>(&seen), registered + 64, 0));
  filled(registered + 64, 400);
  auto* nodes = pinned<Node>(3);
  nodes[2] = {nullptr, addressOf<int>(direct), 1};
  nodes[1] = {&nodes[2], seen, 2};
  const Node first = {&nodes[1], filled(managed, 1), 3};
  nodes[0] = {onDevice(&first, 1), filled(pinned<int>(40) + 8, 50), 4};
  Node* start = &nodes[0];
  expect(cudaMemcpyToSymbol(head, &start, sizeof(start)));
  for (int round = 0; round < 3; ++round) {
    walk<<<1, 1>>>(out, round);
    expectLaunched();
    std::printf("walk %d\n", download(out, 1)[0]);
  }
  std::printf("host memory %d %d\n", registered[67], nodes[0].values[3]);
  expect(cudaHostUnregister(registered));
  std::free(registered);
}

void addOnce() {
  auto* heap = static_cast<int*>(std::aligned_alloc(4096, 4096));
  expect(cudaHostRegister(heap, 4096, cudaHostRegisterMapped));
  int* seen = nullptr;
  expect(cudaHostGetDevicePointer(reinterpret_cast<void**>(&seen), heap, 0));
  filled(heap, 10);
  int* rows[3] = {seen, filled(pinned<int>(32), 1000), addressOf<int>(direct)};
  int* out = nullptr;
  expect(cudaMalloc(&out, 32 * sizeof(int)));
  addRows<<<1, 32>>>(Matrix{onDevice(rows, 3), 3}, out);
  expectLaunched();
  say("rows", download(out, 32));
  say("first row", {heap, heap + 32});

  const auto tagged = reinterpret_cast<uintptr_t>(addressOf<int>(scales) + 2) | 1;
  const unsigned long long word = tagged;
  auto* slot = pinned<unsigned long long>();
  *slot = word;
  untag<<<1, 1>>>(reinterpret_cast<uintptr_t>(slot), out);
  expectLaunched();
  std::printf("untagged %d\n", download(out, 1)[0]);
  expect(cudaHostUnregister(heap));
  std::free(heap);
}

} // namespace

int main() {
  scanOnce();
  walkOnce();
  addOnce();
  return finish("reach");
}
