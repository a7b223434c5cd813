#include <mneme/MnemeAnnotation.hpp>

#include "fill.h"

template <typename T, int Step> __global__ void fill(T* out, int value) { out[threadIdx.x] = value; }

int main() {
  const bool isFilled = fills(fill<int, 3>, "three", 3);
  return isFilled && fills(fill<int, 4>, "four", 4) ? 0 : 1;
}
