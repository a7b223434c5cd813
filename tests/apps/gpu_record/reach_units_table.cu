// The unit that has the variables.
#include "reach_units.h"

#include "common.h"

static __device__ int rows[3][64];
static __device__ int calls = 40;
__device__ Entry storage;
__device__ Entry* entry = &storage;

__device__ int bump(int by) { return atomicAdd(&calls, by); }

__global__ void fillRows(int* borrowed) {
  for (int row = 0; row < 3; ++row)
    rows[row][threadIdx.x] = row * 1000 + threadIdx.x;
  if (threadIdx.x == 0)
    storage = {rows[1], borrowed};
}

void setUp(int* borrowed) {
  fillRows<<<1, 64>>>(borrowed);
  expectLaunched();
}
