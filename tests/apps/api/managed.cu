// Memory both sides use: managed, mapped, stream-ordered, pitched; peers and symbols of one device.
#include "check.h"

__global__ void increment(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] += 1;
}

__global__ void rows(char* base, size_t pitch, int width, int height) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < width && y < height)
    base[y * pitch + x] = static_cast<char>(x + y);
}

int main() {
  constexpr int count = 300;
  int* managed = nullptr;
  expect(cudaMallocManaged(&managed, count * sizeof(int)));
  for (int i = 0; i < count; ++i)
    managed[i] = i;
  increment<<<3, 128>>>(managed, count);
  expectLaunched();
  for (int i = 0; i < count; ++i)
    check(managed[i] == i + 1, "managed memory");
  expect(cudaFree(managed));

  int *mapped = nullptr, *mappedOnDevice = nullptr;
  expect(
      cudaHostAlloc(reinterpret_cast<void**>(&mapped), count * sizeof(int), cudaHostAllocMapped));
  expect(cudaHostGetDevicePointer(reinterpret_cast<void**>(&mappedOnDevice), mapped, 0));
  for (int i = 0; i < count; ++i)
    mapped[i] = -i;
  increment<<<3, 128>>>(mappedOnDevice, count);
  expectLaunched();
  for (int i = 0; i < count; ++i)
    check(mapped[i] == 1 - i, "mapped memory");

  cudaStream_t stream = nullptr;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* ordered = nullptr;
  expect(cudaMallocAsync(reinterpret_cast<void**>(&ordered), count * sizeof(int), stream));
  expect(cudaMemcpyAsync(ordered, mapped, count * sizeof(int), cudaMemcpyHostToDevice, stream));
  increment<<<3, 128, 0, stream>>>(ordered, count);
  expect(cudaMemcpyAsync(mapped, ordered, count * sizeof(int), cudaMemcpyDeviceToHost, stream));
  expect(cudaFreeAsync(ordered, stream));
  expect(cudaStreamSynchronize(stream));
  for (int i = 0; i < count; ++i)
    check(mapped[i] == 2 - i, "stream-ordered memory");
  expect(cudaFreeHost(mapped));

  char* plane = nullptr;
  size_t pitch = 0;
  constexpr int width = 50, height = 7;
  char host[height][width] = {};
  expect(cudaMallocPitch(reinterpret_cast<void**>(&plane), &pitch, width, height));
  expect(cudaMemset2DAsync(plane, pitch, 0, width, height, stream));
  rows<<<height, 64, 0, stream>>>(plane, pitch, width, height);
  expect(
      cudaMemcpy2DAsync(host, width, plane, pitch, width, height, cudaMemcpyDeviceToHost, stream));
  cudaEvent_t done = nullptr;
  expect(cudaEventCreate(&done));
  expect(cudaEventRecord(done, stream));
  expect(cudaEventSynchronize(done));
  expect(cudaStreamQuery(stream));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      check(host[y][x] == static_cast<char>(x + y), "pitched memory");
  expect(cudaEventDestroy(done));
  expect(cudaStreamDestroy(stream));
  expect(cudaFree(plane));
  return finish("managed");
}
