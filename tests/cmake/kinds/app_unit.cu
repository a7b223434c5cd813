#include "fill.h"

__global__ void appKernel(int* out, int value) { out[threadIdx.x] = value; }

bool appUnit() { return fills(appKernel, "app", 3); }
