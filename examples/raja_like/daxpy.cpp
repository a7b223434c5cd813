// y += a * x by a loop of each policy.
#include <cstdio>
#include <cstdlib>

#include "forall.h"

int main(int argc, char** argv) {
  const loops::Index count = argc > 1 ? std::atol(argv[1]) : 1 << 16;
  const double a = 3.0;
  double *x, *y;
  cudaMallocManaged(&x, count * sizeof(double));
  cudaMallocManaged(&y, count * sizeof(double));
  loops::forall<loops::seq_exec>({0, count}, [=](loops::Index i) {
    x[i] = static_cast<double>(i % 7);
    y[i] = 1.0;
  });
  loops::forall<loops::cuda_exec<256>>({0, count},
                                       [=] __device__(loops::Index i) { y[i] += a * x[i]; });
  bool isCorrect = cudaGetLastError() == cudaSuccess;
  for (loops::Index i = 0; i < count; ++i)
    isCorrect = isCorrect && y[i] == 1.0 + a * static_cast<double>(i % 7);
  cudaFree(x);
  cudaFree(y);
  std::printf("%s\n", isCorrect ? "PASSED" : "FAILED");
  return isCorrect ? 0 : 1;
}
