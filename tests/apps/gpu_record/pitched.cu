// Rows and slices with padding between them.
#include "common.h"

__global__ void fillRows(char* base, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height)
    reinterpret_cast<int*>(base + y * pitch)[x] = x * 7 + y;
}

__global__ void addSlices(cudaPitchedPtr volume, cudaExtent extent) {
  const size_t slice = volume.pitch * extent.height;
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  auto* row = reinterpret_cast<int*>(static_cast<char*>(volume.ptr) + z * slice + y * volume.pitch);
  if (x * sizeof(int) < extent.width)
    row[x] += x + y + z;
}

int main() {
  constexpr int width = 100, height = 37, depth = 5;
  char* rows = nullptr;
  size_t pitch = 0;
  expect(cudaMallocPitch(&rows, &pitch, width * sizeof(int), height));
  check(pitch >= width * sizeof(int) && pitch % 256 == 0, "rows are aligned");
  fillRows<<<dim3(1, height), 128>>>(rows, pitch, width, height);
  std::vector<int> host(width * height);
  expect(cudaMemcpy2D(host.data(), width * sizeof(int), rows, pitch, width * sizeof(int), height,
                      cudaMemcpyDeviceToHost));
  say("rows", host);

  const cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
  cudaPitchedPtr volume;
  expect(cudaMalloc3D(&volume, extent));
  expect(cudaMemset3D(volume, 0, extent));
  addSlices<<<dim3(height, depth), 128>>>(volume, extent);
  std::vector<int> slices(width * height * depth);
  expect(cudaMemcpy2D(slices.data(), width * sizeof(int), volume.ptr, volume.pitch,
                      width * sizeof(int), height * depth, cudaMemcpyDeviceToHost));
  say("slices", slices);
  expect(cudaFree(volume.ptr));
  expect(cudaFree(rows));
  return finish("pitched");
}
