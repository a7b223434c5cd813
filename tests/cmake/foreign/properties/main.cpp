#include "fill.h"
#include <cuda.h>

__global__ void propertiesKernel(int* out, int value) { out[threadIdx.x] = value; }

int main() {
  int version = 0;
  cuDriverGetVersion(&version);
  return fills(propertiesKernel, "properties", 3) && version > 0 ? 0 : 1;
}
