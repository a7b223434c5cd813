// Kernels on every kind of memory, in streams, by every form of launch that can be recorded. Prints
// the same text whether it is recorded or not.
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) check((call), #call)

namespace {

void check(hipError_t status, const char* what) {
  if (status != hipSuccess)
    std::printf("%s: %s\n", what, hipGetErrorName(status));
}

constexpr int kCount = 5000, kThreads = 128, kBlocks = 8;

} // namespace

__device__ int step = 3;
__constant__ int bias[2] = {5, 7};

__global__ void scale(const int* in, int* out, int count, int factor) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[i] = in[i] * factor + i;
}

__global__ void together(int* data, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    data[i] += step + bias[i & 1];
}

__global__ void rows(char* start, size_t pitch, int width, int height) {
  for (int y = blockIdx.x; y < height; y += gridDim.x)
    for (int x = threadIdx.x; x < width; x += blockDim.x)
      reinterpret_cast<int*>(start + y * pitch)[x] = x * 100 + y;
}

/// Follows a pointer that lies in device memory.
__global__ void follow(int* const* table, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    table[1][i] = table[0][i] + 1;
}

static unsigned sumOf(const int* values, int count) {
  unsigned sum = 0;
  for (int i = 0; i < count; ++i)
    sum = sum * 31 + unsigned(values[i]);
  return sum;
}

static void say(const char* what, const int* device) {
  std::vector<int> host(kCount);
  CHECK(hipMemcpy(host.data(), device, kCount * sizeof(int), hipMemcpyDefault));
  std::printf("%s: %u\n", what, sumOf(host.data(), kCount));
}

int main() {
  constexpr size_t bytes = kCount * sizeof(int);
  std::vector<int> host(kCount);
  for (int i = 0; i < kCount; ++i)
    host[i] = i * 7;
  int *plain = nullptr, *managed = nullptr, *pinned = nullptr, *ordered = nullptr;
  CHECK(hipMalloc(&plain, bytes));
  CHECK(hipMallocManaged(&managed, bytes));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), bytes, hipHostMallocDefault));
  CHECK(hipMemcpy(plain, host.data(), bytes, hipMemcpyHostToDevice));

  scale<<<kBlocks, kThreads>>>(plain, managed, kCount, 2);
  CHECK(hipDeviceSynchronize());
  std::printf("managed: %u\n", sumOf(managed, kCount));
  scale<<<kBlocks, kThreads>>>(managed, pinned, kCount, 3);
  CHECK(hipDeviceSynchronize());
  std::printf("pinned: %u\n", sumOf(pinned, kCount));

  hipStream_t stream = nullptr;
  CHECK(hipStreamCreate(&stream));
  for (int round = 0; round < 3; ++round) { // what is freed in a stream's order is used again
    CHECK(hipMallocAsync(reinterpret_cast<void**>(&ordered), bytes, stream));
    scale<<<kBlocks, kThreads, 0, stream>>>(plain, ordered, kCount, round);
    CHECK(hipMemcpyAsync(plain, ordered, bytes, hipMemcpyDeviceToDevice, stream));
    CHECK(hipFreeAsync(ordered, stream));
  }
  CHECK(hipStreamSynchronize(stream));
  say("ordered", plain);

  CHECK(hipHostRegister(host.data(), bytes, hipHostRegisterMapped));
  int* mapped = nullptr;
  CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&mapped), host.data(), 0));
  scale<<<kBlocks, kThreads>>>(mapped, plain, kCount, 4);
  CHECK(hipDeviceSynchronize());
  CHECK(hipHostUnregister(host.data()));
  say("registered", plain);

  int newStep = 11, count = kCount;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(step), &newStep, sizeof newStep));
  void* arguments[] = {&plain, &count};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(together), dim3(kBlocks),
                                   dim3(kThreads), arguments, 0, stream));
  CHECK(hipStreamSynchronize(stream));
  say("cooperative", plain);

  hipEvent_t begin = nullptr, end = nullptr;
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreate(&end));
  CHECK(hipExtLaunchKernel(reinterpret_cast<const void*>(together), dim3(kBlocks), dim3(kThreads),
                           arguments, 0, stream, begin, end, 0));
  CHECK(hipEventSynchronize(end));
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, begin, end));
  say(milliseconds >= 0 ? "between events" : "no time", plain);
  CHECK(hipEventDestroy(begin));
  CHECK(hipEventDestroy(end));

  char* pitched = nullptr;
  size_t pitch = 0;
  constexpr int width = 100, height = 20;
  CHECK(hipMallocPitch(reinterpret_cast<void**>(&pitched), &pitch, width * sizeof(int), height));
  rows<<<4, 64>>>(pitched, pitch, width, height);
  std::vector<int> plane(width * height);
  CHECK(hipMemcpy2D(plane.data(), width * sizeof(int), pitched, pitch, width * sizeof(int), height,
                    hipMemcpyDeviceToHost));
  std::printf("pitched: %u\n", sumOf(plane.data(), width * height));

  int* pair[] = {plain, nullptr};
  int** table = nullptr;
  CHECK(hipMalloc(&pair[1], bytes));
  CHECK(hipMalloc(reinterpret_cast<void**>(&table), sizeof pair));
  CHECK(hipMemcpy(table, pair, sizeof pair, hipMemcpyHostToDevice));
  follow<<<1, kThreads>>>(table, kCount);
  CHECK(hipDeviceSynchronize());
  say("followed", pair[1]);

  hipDeviceptr_t base = nullptr;
  size_t size = 0;
  CHECK(hipMemGetAddressRange(&base, &size, plain + 3));
  std::printf("range: %d %zu\n", base == plain, size);
  std::printf("free of nothing: %s\n", hipGetErrorName(hipFree(host.data())));
  std::printf("last error: %s\n", hipGetErrorName(hipGetLastError()));
  std::printf("then: %s\n", hipGetErrorName(hipGetLastError()));
  for (void* pointer : {(void*)plain, (void*)managed, (void*)pitched, (void*)pair[1], (void*)table})
    CHECK(hipFree(pointer));
  CHECK(hipHostFree(pinned));
  CHECK(hipStreamDestroy(stream));
  return 0;
}
