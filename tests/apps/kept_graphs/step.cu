// A graph whose kernels share variables and host memory that not each of them uses.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

__device__ int counter;
__constant__ int factor;

__global__ void scale(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] *= factor;
}

__global__ void countOdd(const int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && values[i] % 2 != 0)
    atomicAdd(&counter, 1);
}

__global__ void report(int* pinned, const int* limits) { *pinned = counter * 10 + limits[0]; }

static void check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(status));
    std::exit(1);
  }
}

static void raise(void* limit) { ++*static_cast<int*>(limit); }

int main() {
  constexpr int count = 3000;
  int *values, *limits, *pinned, *limit, host[count];
  for (int i = 0; i < count; ++i)
    host[i] = i;
  const int three = 3;
  check(cudaMalloc(&values, sizeof(host)));
  check(cudaMalloc(&limits, sizeof(int)));
  check(cudaMallocHost(&pinned, sizeof(int)));
  check(cudaMallocHost(&limit, sizeof(int)));
  *limit = 4;
  check(cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice));
  check(cudaMemcpyToSymbol(factor, &three, sizeof(int)));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<12, 256, 0, stream>>>(values, count);
  countOdd<<<12, 256, 0, stream>>>(values, count);
  check(cudaLaunchHostFunc(stream, raise, limit));
  check(cudaMemcpyAsync(limits, limit, sizeof(int), cudaMemcpyHostToDevice, stream));
  report<<<1, 1, 0, stream>>>(pinned, limits);
  countOdd<<<12, 256, 0, stream>>>(values, count);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int round = 0; round < 2; ++round) {
    check(cudaGraphLaunch(exec, stream));
    check(cudaStreamSynchronize(stream));
    std::printf("%d\n", *pinned);
  }
}
