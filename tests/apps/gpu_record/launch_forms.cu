// Cooperative launches and clusters of blocks.
#include <cooperative_groups.h>

#include "common.h"

namespace cg = cooperative_groups;

__global__ void wholeGrid(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] += i;
  cg::this_grid().sync();
  if (i == 0)
    for (int k = 1; k < count; ++k)
      data[0] += data[k];
}

// cooperative_groups.h offers clusters to nvcc only.
__global__ void clustered(int* out) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __shared__ int mine;
  if (threadIdx.x == 0)
    mine = blockIdx.x * 10 + 1;
  __nvvm_barrier_cluster_arrive();
  __nvvm_barrier_cluster_wait();
  const int blocks = __nvvm_read_ptx_sreg_cluster_nctarank();
  const int other = (__nvvm_read_ptx_sreg_cluster_ctarank() + 1) % blocks;
  const int theirs = *static_cast<int*>(__nvvm_mapa(&mine, other));
  __nvvm_barrier_cluster_arrive();
  __nvvm_barrier_cluster_wait();
  if (threadIdx.x == 0)
    out[blockIdx.x] = theirs * 100 + blocks;
#endif
}

int main() {
  constexpr int count = 512;
  int* data = nullptr;
  expect(cudaMalloc(&data, count * sizeof(int)));
  expect(cudaMemset(data, 0, count * sizeof(int)));
  int size = count;
  void* arguments[] = {&data, &size};
  expect(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(wholeGrid), dim3(4), dim3(128),
                                     arguments));
  expectLaunched();
  say("cooperative", download(data, count));

  int hasClusters = 0;
  expect(cudaDeviceGetAttribute(&hasClusters, cudaDevAttrClusterLaunch, 0));
  if (hasClusters) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(8);
    config.blockDim = dim3(32);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const cudaError_t status = cudaLaunchKernelEx(&config, clustered, data);
    if (status == cudaErrorNotSupported) { // the CPU device, which fails from then on
      expect(cudaGetLastError(), status);
      return finish("launch_forms");
    }
    expect(status);
    expectLaunched();
    say("clusters of four", download(data, 8));
  }
  expect(cudaFree(data));
  return finish("launch_forms");
}
