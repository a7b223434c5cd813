#include "fill.h"

bool staticUnit();
bool objectUnit();

__global__ void mainKernel(int* out, int value) { out[threadIdx.x] = value; }

int main() { return fills(mainKernel, "main", 4) && staticUnit() && objectUnit() ? 0 : 1; }
