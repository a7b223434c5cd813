#include <mneme/MnemeAnnotation.hpp>

#include "fill.h"

__global__ void firstKernel(int* out, int value) { out[threadIdx.x] = value; }

bool first() { return fills(firstKernel, "first", 5); }
