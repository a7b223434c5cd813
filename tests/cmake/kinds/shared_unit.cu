#include "fill.h"

__global__ void sharedKernel(int* out, int value) { out[threadIdx.x] = value; }

bool sharedUnit() { return fills(sharedKernel, "shared", 6); }
