#include "fill.h"

__global__ void staticKernel(int* out, int value) { out[threadIdx.x] = value; }

bool staticUnit() { return fills(staticKernel, "static", 6); }
