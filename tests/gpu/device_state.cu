// What a kernel can see besides plain memory: the device's heap; and contexts of the program's own.
//
//   device_state heap|kept|context|mixed|green|part
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda.h>

#define CHECK(call)                                                                                \
  if (const int status = (call); status != 0)                                                      \
  return std::printf("%s: %d\n", #call, status), 1

constexpr int kCount = 256;

__global__ void usesHeap(int* out) {
  int* own = new int[8];
  for (int at = 0; at < 8; ++at)
    own[at] = threadIdx.x + at;
  out[threadIdx.x] = own[7] + own[threadIdx.x % 8];
  delete[] own;
}
__global__ void keepsHeap(int** kept, int* out) {
  kept[threadIdx.x] = new int(threadIdx.x);
  out[threadIdx.x] = *kept[threadIdx.x];
}
__global__ void readsHeap(int** kept, int* out) {
  out[threadIdx.x] = *kept[threadIdx.x] * 2;
  delete kept[threadIdx.x];
}
__global__ void doubles(int* out) { out[threadIdx.x] = out[threadIdx.x] * 2 + threadIdx.x; }

int print(const int* out) {
  std::vector<int> numbers(kCount);
  CHECK(cudaMemcpy(numbers.data(), out, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  long sum = 0;
  for (const int number : numbers)
    sum = sum * 31 % 1000003 + number;
  std::printf("%ld\n", sum);
  return 0;
}

int onHeap(bool isKept, int* out) {
  int** kept = nullptr;
  CHECK(cudaMalloc(&kept, kCount * sizeof(int*)));
  if (!isKept) {
    usesHeap<<<1, kCount>>>(out);
    return print(out);
  }
  keepsHeap<<<1, kCount>>>(kept, out);
  readsHeap<<<1, kCount>>>(kept, out);
  return print(out);
}

int makeContext(CUcontext* own) {
#if CUDA_VERSION >= 13000
  return cuCtxCreate(own, nullptr, 0, 0);
#else
  return cuCtxCreate(own, 0, 0);
#endif
}

/// Works in a context of its own, then in the primary one again.
int inContext(int* out) {
  CUcontext own = nullptr, primary = nullptr;
  CUdeviceptr memory = 0;
  std::vector<int> numbers(kCount);
  CHECK(cuCtxGetCurrent(&primary));
  CHECK(makeContext(&own));
  CHECK(cuMemAlloc(&memory, kCount * sizeof(int)));
  CHECK(cuMemsetD32(memory, 3, kCount));
  doubles<<<1, kCount>>>(reinterpret_cast<int*>(memory));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(numbers.data(), memory, kCount * sizeof(int)));
  std::printf("%d\n", numbers[100]);
  CHECK(cuCtxSetCurrent(primary));
  doubles<<<1, kCount>>>(out);
  CHECK(print(out));
  CHECK(cuCtxDestroy(own));
  doubles<<<1, kCount>>>(out + 1 - 1);
  return print(out);
}

/// The runtime's functions in a context of the program's own, and in the primary one in between.
int inBothByRuntime(int* out) {
  CUcontext own = nullptr, primary = nullptr;
  int* memory = nullptr;
  cudaStream_t stream = nullptr;
  CHECK(cuCtxGetCurrent(&primary));
  CHECK(makeContext(&own));
  CHECK(cudaMalloc(&memory, kCount * sizeof(int)));
  CHECK(cudaMemset(memory, 1, kCount * sizeof(int)));
  CHECK(cudaStreamCreate(&stream));
  doubles<<<1, 128, 0, stream>>>(memory);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(print(memory));
  CHECK(cuCtxSetCurrent(primary));
  doubles<<<1, 64>>>(out);
  CHECK(print(out));
  CHECK(cuCtxSetCurrent(own));
  doubles<<<1, 32>>>(memory);
  CHECK(print(memory));
  CHECK(cudaFree(memory));
  CHECK(cuCtxDestroy(own));
  CHECK(cuCtxSetCurrent(primary));
  return print(out);
}

/// Writes whether its blocks saw no more than `most` multiprocessors; leaves the rest as it was.
__global__ void staysInside(unsigned* seen, unsigned* ended, int* out, int most) {
  unsigned number = 0, count = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  if (threadIdx.x != 0)
    return;
  atomicOr(&seen[number / 32], 1u << number % 32);
  __threadfence();
  if (atomicAdd(ended, 1) != gridDim.x - 1)
    return;
  for (int word = 0; word < 32; ++word)
    count += __popc(atomicExch(&seen[word], 0));
  *ended = 0;
  out[0] = count > 0 && count <= most;
}

#if CUDA_VERSION >= 12040
int makeStreamInPart(unsigned least, CUstream* stream, int* multiprocessors) {
  CUdevResource whole{}, parts[1]{}, rest{};
  CUdevResourceDesc description{};
  CUgreenCtx green = nullptr;
  unsigned count = 1;
  CHECK(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
  CHECK(cuDevSmResourceSplitByCount(parts, &count, &whole, &rest, 0, least));
  CHECK(cuDevResourceGenerateDesc(&description, parts, 1));
  CHECK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  CHECK(cuGreenCtxStreamCreate(stream, green, CU_STREAM_NON_BLOCKING, 0));
  *multiprocessors = parts[0].sm.smCount;
  return 0;
}
#endif

/// Launches in a stream of a part of the device.
int inGreenContext(bool isCounted, int* out) {
#if CUDA_VERSION >= 12040
  CUstream stream = nullptr;
  int multiprocessors = 0;
  unsigned* seen = nullptr;
  CHECK(makeStreamInPart(16, &stream, &multiprocessors));
  if (isCounted) {
    CHECK(cudaMalloc(&seen, 33 * sizeof(unsigned)));
    CHECK(cudaMemset(seen, 0, 33 * sizeof(unsigned)));
    staysInside<<<4096, 1024, 0, stream>>>(seen, seen + 32, out, multiprocessors);
    CHECK(cudaStreamSynchronize(stream));
    return print(out);
  }
  doubles<<<1, kCount, 0, stream>>>(out);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(print(out));
  doubles<<<1, kCount>>>(out);
#endif
  return print(out);
}

int main(int, char** argv) {
  const auto is = [&](const char* mode) { return std::strcmp(argv[1], mode) == 0; };
  int* out = nullptr;
  CHECK(cudaMalloc(&out, kCount * sizeof(int)));
  CHECK(cudaMemset(out, 0, kCount * sizeof(int)));
  if (is("context"))
    return inContext(out);
  if (is("mixed"))
    return inBothByRuntime(out);
  if (is("green") || is("part"))
    return inGreenContext(is("part"), out);
  return onHeap(is("kept"), out);
}
