#include "fill.h"

__device__ int thrice(int value);

__global__ void rdcStaticKernel(int* out, int value) { out[threadIdx.x] = thrice(value) / 3; }

bool rdcStaticUnit() { return fills(rdcStaticKernel, "rdc static", 10); }
