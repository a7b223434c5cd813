// libdevice against the host's mathematics library. Tolerances are those of the CUDA programming
// guide, with one unit for the host's own error.
#include <cmath>
#include <cstring>

#include "check.h"

constexpr int kFunctions = 24;

template <typename T> __device__ void compute(T x, T y, T* out) {
  out[0] = sin(x), out[1] = cos(x), out[2] = tan(x), out[3] = exp(x);
  out[4] = log(fabs(x) + T(0.01)), out[5] = sqrt(fabs(x)), out[6] = pow(fabs(x), y / 4);
  out[7] = atan2(x, y), out[8] = sinh(x / 8), out[9] = tanh(x), out[10] = erf(x);
  out[11] = cbrt(x), out[12] = fmod(x, T(1.75)), out[13] = hypot(x, y), out[14] = exp2(x);
  out[15] = log2(fabs(x) + T(1)), out[16] = asin(x / 100), out[17] = acosh(fabs(x) + T(1));
  out[18] = floor(x), out[19] = rint(x), out[20] = fma(x, y, T(1)), out[21] = x / y;
  out[22] = lgamma(fabs(x) + T(0.5)), out[23] = rsqrt(fabs(x) + T(0.1));
}

template <typename T> __global__ void evaluate(const T* x, const T* y, T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    compute(x[i], y[i], out + i * kFunctions);
}

template <typename T> void onHost(T x, T y, T* out) {
  out[0] = std::sin(x), out[1] = std::cos(x), out[2] = std::tan(x), out[3] = std::exp(x);
  out[4] = std::log(std::fabs(x) + T(0.01)), out[5] = std::sqrt(std::fabs(x));
  out[6] = std::pow(std::fabs(x), y / 4), out[7] = std::atan2(x, y), out[8] = std::sinh(x / 8);
  out[9] = std::tanh(x), out[10] = std::erf(x), out[11] = std::cbrt(x);
  out[12] = std::fmod(x, T(1.75)), out[13] = std::hypot(x, y), out[14] = std::exp2(x);
  out[15] = std::log2(std::fabs(x) + T(1)), out[16] = std::asin(x / 100);
  out[17] = std::acosh(std::fabs(x) + T(1)), out[18] = std::floor(x), out[19] = std::rint(x);
  out[20] = std::fma(x, y, T(1)), out[21] = x / y, out[22] = std::lgamma(std::fabs(x) + T(0.5));
  out[23] = T(1) / std::sqrt(std::fabs(x) + T(0.1));
}

// Largest error in units in the last place that is accepted, per function. lgamma near its zeros is
// judged by absolute error instead.
constexpr double kUlp[kFunctions] = {4, 4, 6, 4, 4, 1, 10, 5, 5, 4, 4,   3,
                                     0, 4, 4, 4, 5, 6, 0,  0, 0, 0, 1e9, 4};

template <typename T> double ulps(T got, T expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected)))
    return 0;
  const T next = std::nextafter(std::fabs(expected), std::numeric_limits<T>::infinity());
  return std::fabs(double(got) - double(expected)) / (double(next) - std::fabs(double(expected)));
}

template <typename T> void test(const char* type) {
  constexpr int count = 2000;
  Buffer<T> x(count), y(count), out(count * kFunctions);
  for (int i = 0; i < count; ++i) {
    x[i] = T((i - 1000) * 0.0371);
    y[i] = T(0.3 + i % 13 * 0.77);
  }
  x.upload(), y.upload();
  evaluate<T><<<(count + 127) / 128, 128>>>(x.device(), y.device(), out.device(), count);
  expectLaunched();
  out.download();
  for (int i = 0; i < count; ++i) {
    T expected[kFunctions];
    onHost(x[i], y[i], expected);
    for (int f = 0; f < kFunctions; ++f) {
      const T got = out[i * kFunctions + f];
      if (ulps(got, expected[f]) <= kUlp[f])
        continue;
      ++failedChecks;
      std::printf("%s function %d of %.9g, %.9g: got %.17g, expected %.17g\n", type, f,
                  double(x[i]), double(y[i]), double(got), double(expected[f]));
    }
    const double gamma = out[i * kFunctions + 22];
    check(std::fabs(gamma - double(expected[22])) <= 1e-5 * (1 + std::fabs(double(expected[22]))),
          "lgamma");
  }
}

__global__ void large(const double* x, double* out) {
  out[threadIdx.x * 2] = sin(x[threadIdx.x]);
  out[threadIdx.x * 2 + 1] = cosf(static_cast<float>(x[threadIdx.x]));
}

__global__ void rounding(float* out) {
  out[0] = __fadd_rd(1.0f, 1e-10f), out[1] = __fadd_ru(1.0f, 1e-10f);
  out[2] = __fmul_rz(1.1f, 1.1f), out[3] = __fmul_rn(1.1f, 1.1f);
  out[4] = __fdiv_rn(1.0f, 3.0f), out[5] = __frcp_rn(3.0f), out[6] = __fsqrt_rn(2.0f);
  out[7] = static_cast<float>(__float2int_rd(-1.5f)),
  out[8] = static_cast<float>(__float2int_ru(-1.5f));
  out[9] = static_cast<float>(__float2int_rn(2.5f)), out[10] = __saturatef(1.5f);
  out[11] = __int_as_float(0x40490fdb), out[12] = static_cast<float>(__popc(0xf0f0));
  out[13] = static_cast<float>(__clz(1)), out[14] = static_cast<float>(__ffs(8));
  out[15] = static_cast<float>(__brev(1u) >> 16),
  out[16] = static_cast<float>(__mulhi(1 << 20, 1 << 20));
  out[17] = static_cast<float>(__byte_perm(0x12345678, 0, 0x0123) & 0xffff);
  out[18] = static_cast<float>(__double2hiint(1.0) >> 20),
  out[19] = static_cast<float>(__mul24(1000, 1000));
  out[20] = static_cast<float>(__sad(3, 10, 1)), out[21] = __fmaf_rn(2.0f, 3.0f, 4.0f);
}

void testRounding() {
  Buffer<float> out(22);
  rounding<<<1, 1>>>(out.device());
  expectLaunched();
  out.download();
  const float expected[22] = {1.0f,
                              std::nextafterf(1.0f, 2.0f),
                              0,
                              1.1f * 1.1f,
                              1.0f / 3.0f,
                              1.0f / 3,
                              std::sqrt(2.0f),
                              -2,
                              -1,
                              2,
                              1,
                              3.14159274f,
                              8,
                              31,
                              4,
                              32768,
                              256,
                              0x3412 + 0x4444,
                              1023,
                              1000000,
                              8,
                              10};
  for (int i = 0; i < 22; ++i)
    if (i != 2 && i != 17)
      check(out[i] == expected[i], "rounding intrinsic");
  check(out[2] <= 1.1f * 1.1f && out[2] > 1.2099f, "multiplication towards zero");
  check(out[17] == static_cast<float>(0x3412), "byte permutation");
}

int main() {
  test<float>("float");
  test<double>("double");
  constexpr int count = 8;
  Buffer<double> x(count), out(2 * count);
  for (int i = 0; i < count; ++i)
    x[i] = std::pow(10.0, 3 * i + 1) * (i % 2 ? 1.1 : -1.7);
  x.upload();
  large<<<1, count>>>(x.device(), out.device());
  expectLaunched();
  out.download();
  for (int i = 0; i < count; ++i) {
    check(ulps(out[2 * i], std::sin(x[i])) <= 4, "sine of a large number");
    check(std::fabs(out[2 * i + 1] - std::cos(double(float(x[i])))) < 1e-6, "cosine, single");
  }
  testRounding();
  return finish("device_math");
}
