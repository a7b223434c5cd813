#include "fill.h"

__device__ int twice(int value);

__global__ void rdcKernel(int* out, int value) { out[threadIdx.x] = twice(value) / 2; }

bool rdcUnit() { return fills(rdcKernel, "rdc", 9); }
