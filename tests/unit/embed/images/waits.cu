// Kernels that write nothing, and some that do.
//
//   nvcc -fatbin -compress-mode=size -o waits.fatbin waits.cu \
//     -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90 \
//     -gencode arch=compute_120,code=sm_120
//   nvcc -ptx -arch=sm_75 waits.cu
extern "C" __global__ void spins(volatile unsigned* latch) {
  while (latch[0] < 1) {
  }
}
extern "C" __global__ void acquires(const int* latch) {
  for (int found = 0; found < 1;)
    asm volatile("ld.acquire.sys.b32 %0, [%1];" : "=r"(found) : "l"(latch) : "memory");
}
extern "C" __global__ void sleeps(const volatile int* latch, int wanted) {
  if (threadIdx.x == 0)
    while (latch[blockIdx.x] != wanted)
      __nanosleep(100);
  __syncthreads();
}
extern "C" __global__ void adds(int* latch) {
  while (atomicAdd_system(latch, 0) < 1) {
  }
}
extern "C" __global__ void writes(int* out) { out[threadIdx.x] = 3; }
// On its stack alone, which is not told from other memory.
extern "C" __global__ void stacks(const volatile int* latch, int n) {
  int own[20] = {};
  for (int i = 0; i < n; ++i)
    own[i * 7 % 20] += i;
  while (latch[own[n % 20]] < 1) {
  }
}
