#include "fill.h"

__attribute__((annotate("jit", 2))) __global__ void existing(int* out, int value) {
  out[threadIdx.x] = value;
}

int main() { return fills(existing, "existing", 5) ? 0 : 1; }
