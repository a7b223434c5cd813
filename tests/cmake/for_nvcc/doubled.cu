#ifndef WHOLE_OFF
__device__ int deviceDouble(int x) { return 2 * x; }
#endif

__global__ void doubledKernel(int* value) { *value *= 2; }

void doubled(int* value) { doubledKernel<<<1, 1>>>(value); }
