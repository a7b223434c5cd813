#include <hip/hip_runtime.h>

__device__ float factor = 3;
__device__ float twice(float value) { return 2 * value; }
