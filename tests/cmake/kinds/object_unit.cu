#include "fill.h"

__global__ void objectKernel(int* out, int value) { out[threadIdx.x] = value; }

bool objectUnit() { return fills(objectKernel, "object", 6); }
