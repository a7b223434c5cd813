#include "fill.h"

__global__ void cxxKernel(int* out, int value) { out[threadIdx.x] = value; }

bool cxxUnit() { return fills(cxxKernel, "cxx", 7); }
