// A program that takes most of the GPU's memory at once and hands it out itself, as frameworks do:
// by an allocation, or by memory that it maps in two pieces.
//
//   arena alloc|map PERCENT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda.h>

#define CHECK(call)                                                                                \
  if (const int status = (call); status != 0)                                                      \
  return std::printf("%s: %d\n", #call, status), 1

__global__ void spread(const float* in, float* out, float** list, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count)
    return;
  out[at] = in[at] * 3 + 1;
  (*list)[at] += out[at]; // only a pointer in memory leads there
}

/// Two pieces side by side, the first of which is small.
CUresult map(CUdeviceptr* begin, size_t bytes) {
  constexpr size_t first = 2 << 20;
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUresult status = cuMemAddressReserve(begin, bytes, 0, 0, 0);
  for (size_t at = 0, size = first; at < bytes && !status; at += size, size = bytes - first) {
    CUmemGenericAllocationHandle memory{};
    if ((status = cuMemCreate(&memory, size, &wanted, 0)) == CUDA_SUCCESS)
      status = cuMemMap(*begin + at, size, 0, memory, 0);
    cuMemRelease(memory);
  }
  CUmemAccessDesc access{};
  access.location = wanted.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return status ? status : cuMemSetAccess(*begin, bytes, &access, 1);
}

int main(int argc, char** argv) {
  constexpr int count = 200'000;
  size_t left = 0, total = 0;
  CUdeviceptr arena = 0, other = 0;
  CHECK(cudaMemGetInfo(&left, &total));
  const size_t bytes = total / 100 * std::atoi(argv[2]) / (2 << 20) * (2 << 20);
  CHECK(!std::strcmp(argv[1], "map") ? map(&arena, bytes) : cuMemAlloc(&arena, bytes));
  CHECK(cuMemAlloc(&other, sizeof(float*)));
  // Across the border of the pieces; far off; and at the very end.
  auto* in = reinterpret_cast<float*>(arena + (2 << 20) - 4000);
  auto* out = reinterpret_cast<float*>(arena + bytes / 2);
  auto* sums = reinterpret_cast<float*>(arena + bytes - count * sizeof(float));
  std::vector<float> numbers(count);
  for (int at = 0; at < count; ++at)
    numbers[at] = at % 1000;
  CHECK(cudaMemset(sums, 0, count * sizeof(float)));
  CHECK(cudaMemcpy(in, numbers.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cuMemcpyHtoD(other, &sums, sizeof sums));
  for (int round = 0; round < 3; ++round) {
    spread<<<(count + 255) / 256, 256>>>(in, out, reinterpret_cast<float**>(other), count);
    std::swap(in, out); // the same launch: pointers do not count
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(numbers.data(), sums, count * sizeof(float), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (const float number : numbers)
    sum += number;
  std::printf("%.0f\n", sum);
  return 0;
}
