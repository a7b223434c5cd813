// A kernel that does nothing but wait for the program, as streams are held up with to fill them
// first, and one behind it.
//
//   nvcc latch.cu
#include <cstdio>

__global__ void waits(const volatile unsigned* latch) {
  while (latch[0] < 1) {
  }
}
__global__ void adds(int* out) { out[threadIdx.x] += threadIdx.x; }

int main() {
  volatile unsigned* latch = nullptr;
  int* out = nullptr;
  int host[32], status = cudaHostAlloc(const_cast<unsigned**>(&latch), sizeof(unsigned), 0);
  latch[0] = 0;
  status += cudaMalloc(&out, sizeof(host));
  status += cudaMemset(out, 0, sizeof(host));
  waits<<<1, 1>>>(latch);
  adds<<<1, 32>>>(out);
  latch[0] = 1;
  status += cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  adds<<<1, 32>>>(out);
  status += cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[31], status);
  return status;
}
