#include "fill.h"

__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }

#ifdef OWN_TARGET
int main() { return fills(fill, "own", 3) ? 0 : 1; }
#else
#include <cuda.h>

int main() {
  CUdeviceptr memory = 0;
  unsigned last = 0;
  if (cuMemAlloc(&memory, 4 * kCount) != CUDA_SUCCESS || cuMemsetD32(memory, 7, kCount))
    return 2;
  const CUresult copied = cuMemcpyDtoH(&last, memory + 4 * (kCount - 1), sizeof last);
  return copied == CUDA_SUCCESS && last == 7 && fills(fill, "driver", 3) ? 0 : 1;
}
#endif
