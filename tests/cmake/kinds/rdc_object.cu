#include "fill.h"

__device__ int thrice(int value) { return 3 * value; }

__global__ void rdcObjectKernel(int* out, int value) { out[threadIdx.x] = thrice(value) - 2 * value; }

bool rdcObjectUnit() { return fills(rdcObjectKernel, "rdc object", 11); }
