// Every form of a launch: plain, cooperative, with attributes, with clusters, with shared memory
// that has to be asked for.
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

__global__ void plain(int* data, int count, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] = data[i] * 3 + step;
}

__global__ void reverse(int* data, int count) {
  extern __shared__ int staged[];
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    staged[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    data[i] = staged[count - 1 - i] + i;
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

namespace {

constexpr int count = 512;
constexpr int large = 20000; // 80 kB

void launchClustered(int* data, unsigned blocks) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(16);
  config.blockDim = dim3(32);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = blocks;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t status = cudaLaunchKernelEx(&config, clustered, data);
  const cudaError_t last = cudaGetLastError();
  std::printf("clusters of %u: %s, %s\n", blocks, cudaGetErrorName(status), cudaGetErrorName(last));
  if (status == cudaSuccess)
    say("clusters", data, 16);
}

void launchReverse(int* data, const char* what) {
  reverse<<<1, 256, large * sizeof(int)>>>(data, large);
  const cudaError_t status = cudaGetLastError();
  std::printf("%s: %s\n", what, cudaGetErrorName(status));
  say(what, data, large);
}

} // namespace

int main() {
  int* data = nullptr;
  expect(cudaMalloc(&data, large * sizeof(int)));
  expect(cudaMemset(data, 0, large * sizeof(int)));
  int size = count;
  void* arguments[] = {&data, &size};
  for (int round = 0; round < 2; ++round) {
    expect(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(wholeGrid), dim3(4), dim3(128),
                                       arguments));
    expectLaunched();
    say("cooperative", data, count);
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(4);
  config.blockDim = dim3(128);
  expect(cudaLaunchKernelEx(&config, plain, data, size, 7));
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributePriority;
  config.attrs = attributes;
  config.numAttrs = 2;
  expect(cudaLaunchKernelEx(&config, plain, data, size, 8));
  expectLaunched();
  say("with attributes", data, count);

  reverse<<<1, 256, count * sizeof(int)>>>(data, count);
  expectLaunched();
  say("shared memory", data, count);
  launchReverse(data, "too much shared memory");
  expect(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              large * sizeof(int)));
  launchReverse(data, "as much as asked for");

  int hasClusters = 0;
  expect(cudaDeviceGetAttribute(&hasClusters, cudaDevAttrClusterLaunch, 0));
  if (hasClusters) {
    launchClustered(data, 4);
    launchClustered(data, 16);
    expect(cudaFuncSetAttribute(clustered, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    launchClustered(data, 16);
    launchClustered(data, 3);
  }
  expect(cudaFree(data));
  return finish("forms");
}
