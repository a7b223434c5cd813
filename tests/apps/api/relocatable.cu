// Relocatable device code: functions and variables of another unit (relocatable_unit.cu).
#include "check.h"

extern __device__ int counter;
extern __device__ int onlyVariable;
extern __constant__ float factor;
__device__ int twice(int value);
static __device__ int hidden = 5; // the other unit has its own

__global__ void count(int* output) {
  output[threadIdx.x] = twice(threadIdx.x) + hidden;
  atomicAdd(&counter, 1);
}

__global__ void readVariable(int* output) { *output = onlyVariable++; }

void launchOther(int* output);

int main() {
  int early = 0, total = 0;
  expect(cudaMemcpyFromSymbol(&early, onlyVariable, sizeof early));
  check(early == 77, "initial value from another unit");
  Buffer<int> output(64), other(2), single(1);
  count<<<1, 64>>>(output.device());
  launchOther(other.device());
  readVariable<<<1, 1>>>(single.device());
  readVariable<<<1, 1>>>(single.device());
  expectLaunched();
  output.download(), other.download(), single.download();
  for (int t = 0; t < 64; ++t)
    check(output[t] == 2 * t + 5, "function of another unit");
  check(other[0] == 16 && other[1] == 1064, "kernel of another unit, one storage");
  check(single[0] == 78, "variable without a kernel in its unit");
  expect(cudaMemcpyFromSymbol(&total, counter, sizeof total));
  check(total == 1064, "copy from a symbol of another unit");
  return finish("relocatable");
}
