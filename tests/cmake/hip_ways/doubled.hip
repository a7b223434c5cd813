// A device function for a kernel of another source.
#include <hip/hip_runtime.h>

__device__ int doubled(int value) { return value * 2; }
