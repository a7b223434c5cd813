// A graph with an array that a kernel fills by a surface, and a copy in part: kernels read it by a
// texture, before the copy and behind it.
#include "common.h"

constexpr int kWidth = 64, kHeight = 16, kCount = kWidth * kHeight;

__global__ void paint(cudaSurfaceObject_t surface, int factor) {
  const int x = threadIdx.x, y = blockIdx.x;
  surf2Dwrite((y * kWidth + x) * factor, surface, x * static_cast<int>(sizeof(int)), y);
}

__global__ void smear(cudaTextureObject_t texture, int* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D<int>(texture, x, y) + tex2D<int>(texture, x + 1, y);
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaResourceDesc resource{};
  cudaTextureDesc sampler{};
  sampler.addressMode[0] = sampler.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  cudaSurfaceObject_t surface;
  expect(cudaMallocArray(&resource.res.array.array, &format, kWidth, kHeight,
                         cudaArraySurfaceLoadStore));
  expect(cudaCreateTextureObject(&texture, &resource, &sampler, nullptr));
  expect(cudaCreateSurfaceObject(&surface, &resource));
  int *rows, *before, *behind;
  expect(cudaMalloc(&rows, kCount * sizeof(int)));
  expect(cudaMalloc(&before, kCount * sizeof(int)));
  expect(cudaMalloc(&behind, kCount * sizeof(int)));
  expect(cudaMemset(rows, 1, kCount * sizeof(int)));

  const cudaStream_t stream = graphs::newStream();
  graphs::begin(stream);
  paint<<<kHeight, kWidth, 0, stream>>>(surface, 3);
  smear<<<kHeight, kWidth, 0, stream>>>(texture, before);
  expect(cudaMemcpy2DToArrayAsync(resource.res.array.array, 0, 4, rows, kWidth * sizeof(int),
                                  kWidth * sizeof(int), 8, cudaMemcpyDeviceToDevice, stream));
  smear<<<kHeight, kWidth, 0, stream>>>(texture, behind);
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiateWithFlags(&exec, graphs::end(stream), 0));
  for (int round = 0; round < 2; ++round)
    graphs::run(exec, stream);
  say("before", download(before, kCount));
  say("behind", download(behind, kCount));
}
