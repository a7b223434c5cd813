// Half precision and inline PTX of the vendor's headers.
#include <cuda_fp16.h>

#include "check.h"

__global__ void halves(const float* x, const float* y, float* output) {
  const __half a = __float2half(x[threadIdx.x]), b = __float2half(y[threadIdx.x]);
  float* row = output + threadIdx.x * 6;
  row[0] = __half2float(__hadd(a, b));
  row[1] = __half2float(__hmul(a, b));
  row[2] = __half2float(__hfma(a, b, a));
  row[3] = __hlt(a, b);
  const __half2 pair = __hadd2(__halves2half2(a, b), __float2half2_rn(1.0f));
  row[4] = __low2float(pair);
  row[5] = __high2float(pair);
}

__global__ void inlinePtx(const unsigned* input, unsigned* output) {
  unsigned a = input[0], b = input[1], result;
  asm("{ .reg .u32 t; add.u32 t, %1, %2; shl.b32 %0, t, 2; }" : "=r"(result) : "r"(a), "r"(b));
  output[0] = result;
  output[1] = __funnelshift_l(a, b, 8);
  output[2] = __dp4a(0x01020304u, 0x01010101u, 5u);
}

int main() {
  constexpr int count = 32;
  Buffer<float> x(count), y(count), output(count * 6);
  for (int i = 0; i < count; ++i)
    x[i] = i * 0.25f - 3, y[i] = 2 - i * 0.125f; // all results are exact in half precision
  x.upload(), y.upload();
  halves<<<1, count>>>(x.device(), y.device(), output.device());
  expectLaunched();
  output.download();
  for (int i = 0; i < count; ++i) {
    const float* row = output.host() + i * 6;
    check(row[0] == x[i] + y[i] && row[1] == x[i] * y[i], "half add and multiply");
    check(row[2] == x[i] * y[i] + x[i] && row[3] == (x[i] < y[i]), "half fma and compare");
    check(row[4] == x[i] + 1 && row[5] == y[i] + 1, "pairs of halves");
  }
  Buffer<unsigned> input(2), results(3);
  input[0] = 0x12345678, input[1] = 7;
  input.upload();
  inlinePtx<<<1, 1>>>(input.device(), results.device());
  expectLaunched();
  results.download();
  check(results[0] == (0x12345678u + 7) << 2, "inline PTX");
  check(results[1] == (7u << 8 | 0x12), "funnel shift");
  check(results[2] == 15, "dot product of bytes");
  return finish("half");
}
