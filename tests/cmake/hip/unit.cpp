#include <hip/hip_runtime.h>

__global__ void cxxUnitKernel(int* out, int value) { *out = value; }

void unit(int* out) { cxxUnitKernel<<<dim3(1), dim3(1)>>>(out, 3); }
