// A function of the device that the kernels call: of this unit, or of another with EXTERNAL_PART.
#pragma once

#ifdef EXTERNAL_PART
__device__ double part(const double* tile, int at, int step);
#else
__device__ inline double part(const double* tile, int at, int step) {
  double sum = 0;
  for (int index = 0; index < 8; ++index)
    sum += tile[(at + index * step) % 32];
  return sum;
}
#endif
