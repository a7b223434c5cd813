// Device math, division, square roots and reductions.
#include "math_kernels.cu"
#include "rounding.h"

#define RUN(kernel) launch(#kernel, kernel)

int main() {
  RUN(k_sin);
  RUN(k_exp);
  RUN(k_log);
  RUN(k_pow);
  RUN(k_hyp);
  RUN(k_atan);
  RUN(k_div);
  RUN(k_sqrt);
  RUN(k_rsqrt);
  RUN(k_intr);
  RUN(k_denorm);
  RUN(k_norm);
  RUN(d_sin);
  RUN(d_pow);
  RUN(d_div);
  RUN(d_mad);
  RUN(k_sincos);
  float *c = onDevice<float>(64 * 64, 3), *a = onDevice<float>(64 * 64, 4),
        *b = onDevice<float>(64 * 64, 5);
  matmul<<<dim3(4, 4), dim3(16, 16)>>>(c, a, b, 64);
  show("matmul", c, 64 * 64);
  rk4<<<8, 128>>>(c, a, 50, 0.01f);
  show("rk4", c, 1024);
}
