#include <cmath>
#include <cuda_runtime.h>
#include <math_constants.h>
__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }
#ifdef __FAST_MATH__
constexpr float kFast = 2.f;
#else
constexpr float kFast = 1.f;
#endif
#define K1(name, T, expr)                                                                          \
  __global__ void name(T* y, const T* x, int n) {                                                  \
    if (int i = index(); i < n) {                                                                  \
      T a = x[i], b = y[i];                                                                        \
      y[i] = (expr) * (T)kFast;                                                                    \
    }                                                                                              \
  }
K1(k_sin, float, sinf(a) * cosf(b))
K1(k_tan, float, tanf(a))
K1(k_exp, float, expf(a) + exp2f(b) + exp10f(a))
K1(k_log, float, logf(a) + log2f(b) + log10f(a) + log1pf(b))
K1(k_pow, float, powf(a, b))
K1(k_powi, float, powf(a, 3.f) + powf(b, 2.f))
K1(k_cbrt, float, cbrtf(a) + erff(b))
K1(k_hyp, float, hypotf(a, b) + tanhf(a) + sinhf(b))
K1(k_atan, float, atan2f(a, b) + asinf(a))
K1(k_gamma, float, tgammaf(a) + lgammaf(b))
K1(k_div, float, a / b + 1.f / a)
K1(k_sqrt, float, sqrtf(a) / b)
K1(k_rsqrt, float, rsqrtf(a) * 1.f / sqrtf(b))
K1(k_fmod, float, fmodf(a, b) + remainderf(a, b))
K1(k_minmax, float, fminf(fmaxf(a, b), 0.f) + fabsf(a))
K1(k_round, float, rintf(a) + floorf(b) + ceilf(a) + truncf(b) + roundf(a) + nearbyintf(b))
K1(k_intr, float,
   __fdividef(a, b) + __sinf(a) + __powf(a, b) + __log2f(a) + __fsqrt_rn(b) + __frcp_rn(a) +
       __fmaf_rz(a, b, a))
K1(k_denorm, float, a * 1e-38f + b * 1e-30f * 1e-10f)
K1(k_class, float, isnan(a) ? b : isinf(b) ? a : a* b)
K1(d_sin, double, sin(a) * cos(b))
K1(d_exp, double, exp(a) + log(b))
K1(d_pow, double, pow(a, b))
K1(d_div, double, a / b + sqrt(a))
K1(d_rsqrt, double, rsqrt(a) + cbrt(b))
K1(d_mad, double, a* b + a * a + b)
K1(k_sincos, float, ([&] {
     float s, c;
     sincosf(a, &s, &c);
     return s * b + c;
   }()))
K1(k_norm, float, norm3df(a, b, 1.f) + rnorm3df(a, b, 2.f) + normcdff(a))
K1(k_ldexp, float, ldexpf(a, 3) + scalbnf(b, 2) + ([&] {
                     int e;
                     return frexpf(a, &e) + e;
                   }()))
__global__ void rk4(float* y, const float* x, int steps, float h) {
  int i = index();
  float u = x[i];
  for (int s = 0; s < steps; ++s) {
    float k1 = -u * u + sinf(u), k2 = -(u + h / 2 * k1) * (u + h / 2 * k1) + sinf(u + h / 2 * k1);
    float k3 = -(u + h / 2 * k2) * (u + h / 2 * k2) + sinf(u + h / 2 * k2);
    float k4 = -(u + h * k3) * (u + h * k3) + sinf(u + h * k3);
    u += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  y[i] = u;
}
__global__ void dot(float* y, const float4* x, const float4* z, int n) {
  float s = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += 32)
    s += x[i].x * z[i].x + x[i].y * z[i].y + x[i].z * z[i].z + x[i].w * z[i].w;
  y[threadIdx.x] = s;
}
__global__ void poly(double* y, const double* x, int n) {
  int i = index();
  double a = x[i], s = 0;
  for (int k = 0; k < 24; ++k)
    s = s * a + 1.0 / (k + 1);
  y[i] = s;
}
__global__ void sums(float* y, const float* x, int n) {
  float s0 = 0;
  for (int k = 0; k < 64; ++k)
    s0 += x[k * n + threadIdx.x];
  y[threadIdx.x] = s0 / 64;
}
__global__ void matmul(float* c, const float* a, const float* b, int n) {
  __shared__ float sa[16][16], sb[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16 + ty, q = blockIdx.x * 16 + tx;
  float s = 0;
  for (int t = 0; t < n / 16; ++t) {
    sa[ty][tx] = a[r * n + t * 16 + tx];
    sb[ty][tx] = b[(t * 16 + ty) * n + q];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      s += sa[ty][k] * sb[k][tx];
    __syncthreads();
  }
  c[r * n + q] = s;
}
