#include <mneme/MnemeAnnotation.hpp>

#include "fill.h"

__global__ void secondKernel(int* out, int value) { out[threadIdx.x] = value; }

bool second() { return fills(secondKernel, "second", 6); }
