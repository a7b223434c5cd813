// Tensor cores: fragments of every shape and type, mma of PTX, and what moves its operands.
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <typename T> double valueOf(T value) {
  if constexpr (std::is_same_v<T, __half>)
    return __half2float(value);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __bfloat162float(value);
  else
    return static_cast<double>(value);
}

template <typename T> T make(double value) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

/// What a fragment calls its elements' type, and what memory holds.
template <typename T> struct Stored {
  using Type = T;
};
template <> struct Stored<wmma::precision::tf32> {
  using Type = float;
};

template <int M, int N, int K, typename T, typename Sum, typename LayoutA, typename LayoutB>
__global__ void product(const typename Stored<T>::Type* a, const typename Stored<T>::Type* b,
                        const Sum* c, Sum* d, int lda, int ldb, int ldc, int ldd) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> left;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> right;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::load_matrix_sync(left, a, lda);
  wmma::load_matrix_sync(right, b, ldb);
  wmma::load_matrix_sync(sum, c, ldc, wmma::mem_col_major);
  for (int at = 0; at < left.num_elements; ++at)
    left.x[at] = left.x[at] + left.x[at];
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, ldd, wmma::mem_row_major);
}

template <int M, int N, int K, typename T, typename Sum, typename LayoutA, typename LayoutB>
void testProduct(const char* what) {
  using Element = typename Stored<T>::Type;
  constexpr bool isRowA = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool isRowB = std::is_same_v<LayoutB, wmma::row_major>;
  const int lda = (isRowA ? K : M) + 16, ldb = (isRowB ? N : K) + 16, ldc = M + 16, ldd = N + 16;
  Buffer<Element> a((isRowA ? M : K) * lda), b((isRowB ? K : N) * ldb);
  Buffer<Sum> c(N * ldc), d(M * ldd);
  const int low = std::is_unsigned_v<Element> ? 0 : -3;
  const auto left = [&](int row, int k) -> Element& {
    return a[isRowA ? row * lda + k : k * lda + row];
  };
  const auto right = [&](int k, int column) -> Element& {
    return b[isRowB ? k * ldb + column : column * ldb + k];
  };
  for (int k = 0; k < K; ++k) {
    for (int row = 0; row < M; ++row)
      left(row, k) = make<Element>((row * 5 + k * 3) % 7 + low);
    for (int column = 0; column < N; ++column)
      right(k, column) = make<Element>((k * 5 + column) % 6 + low);
  }
  for (int row = 0; row < M; ++row)
    for (int column = 0; column < N; ++column)
      c[column * ldc + row] = make<Sum>(row - 2 * column);
  a.upload(), b.upload(), c.upload();
  product<M, N, K, T, Sum, LayoutA, LayoutB>
      <<<1, 32>>>(a.device(), b.device(), c.device(), d.device(), lda, ldb, ldc, ldd);
  expectLaunched();
  d.download();
  bool isRight = true;
  for (int row = 0; row < M; ++row)
    for (int column = 0; column < N; ++column) {
      double sum = row - 2 * column;
      for (int k = 0; k < K; ++k)
        sum += 2 * valueOf(left(row, k)) * valueOf(right(k, column));
      isRight = isRight && valueOf(d[row * ldd + column]) == sum;
    }
  check(isRight, what);
}

template <int M, int N, int K, typename T, typename Sum> void testLayouts(const char* what) {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  testProduct<M, N, K, T, Sum, Row, Column>(what);
  testProduct<M, N, K, T, Sum, Column, Row>(what);
}

template <typename T, typename Sum> void testShapes(const char* what) {
  testLayouts<16, 16, 16, T, Sum>(what);
  testLayouts<32, 8, 16, T, Sum>(what);
  testLayouts<8, 32, 16, T, Sum>(what);
}

/// Numbers of the types of mma, as PTX packs them.
template <int Bits> unsigned packed(const int* from) {
  unsigned word = 0;
  for (int at = 0; at < 32 / Bits; ++at) {
    unsigned bits = from[at];
    if (Bits == 16)
      bits = __half_as_ushort(__float2half(static_cast<float>(from[at])));
    word |= (bits & ((1u << Bits) - 1)) << (at * Bits);
  }
  return word;
}

__global__ void mmaHalf(const unsigned* a, const unsigned* b, float* d) {
  const unsigned lane = threadIdx.x;
  float sum[4] = {1, 2, 3, 4};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[lane * 4]), "r"(a[lane * 4 + 1]), "r"(a[lane * 4 + 2]), "r"(a[lane * 4 + 3]),
                 "r"(b[lane * 2]), "r"(b[lane * 2 + 1]));
  for (int at = 0; at < 4; ++at)
    d[lane * 4 + at] = sum[at];
  unsigned low = 0, high = 0;
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %5};"
      : "=r"(low), "=r"(high)
      : "r"(a[lane * 4]), "r"(a[lane * 4 + 1]), "r"(b[lane * 2]), "r"(0));
  float* more = d + 128 + lane * 4;
  more[0] = __half2float(__ushort_as_half(low & 0xffff));
  more[1] = __half2float(__ushort_as_half(low >> 16));
  more[2] = __half2float(__ushort_as_half(high & 0xffff));
  more[3] = __half2float(__ushort_as_half(high >> 16));
}

__global__ void mmaBytes(const unsigned* a, const unsigned* b, int* d) {
  const unsigned lane = threadIdx.x;
  int sum[4] = {2147483647, 0, 0, -5};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
               : "r"(a[lane * 4]), "r"(a[lane * 4 + 1]), "r"(a[lane * 4 + 2]), "r"(a[lane * 4 + 3]),
                 "r"(b[lane * 2]), "r"(b[lane * 2 + 1]));
  for (int at = 0; at < 4; ++at)
    d[lane * 4 + at] = sum[at];
}

__global__ void mmaOthers(double* d, float* f) {
  const unsigned lane = threadIdx.x, line = lane / 4, part = lane % 4;
  double sum[2] = {0.5, 0.25};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sum[0]), "+d"(sum[1])
               : "d"(line + 0.1 * part), "d"(part * 2.0 - line));
  d[lane * 2] = sum[0], d[lane * 2 + 1] = sum[1];
  float single[4] = {};
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, "
               "{%6}, {%0, %1, %2, %3};"
               : "+f"(single[0]), "+f"(single[1]), "+f"(single[2]), "+f"(single[3])
               : "r"(__float_as_uint(float(line * 4 + part))),
                 "r"(__float_as_uint(float(line * 4 + part + 32))),
                 "r"(__float_as_uint(float(part * 8 + line))));
  for (int at = 0; at < 4; ++at)
    f[lane * 4 + at] = single[at];
}

template <int K, typename T>
bool isProduct(const int* a, const int* b, const T* d, const double* c, double largest) {
  for (int lane = 0; lane < 32; ++lane)
    for (int at = 0; at < 4; ++at) {
      const int row = lane / 4 + at / 2 * 8, column = lane % 4 * 2 + at % 2;
      double sum = c[at];
      for (int k = 0; k < K; ++k)
        sum += a[row * 32 + k] * b[column * 32 + k];
      if (d[lane * 4 + at] != (sum > largest ? largest : sum))
        return false;
    }
  return true;
}

template <int Bits>
void pack(const int* a, const int* b, Buffer<unsigned>& left, Buffer<unsigned>& right) {
  constexpr int step = 32 / Bits;
  for (int lane = 0; lane < 32; ++lane)
    for (int at = 0; at < 4; ++at) {
      const int k = lane % 4 * step + at / 2 * 4 * step;
      left[lane * 4 + at] = packed<Bits>(a + (lane / 4 + at % 2 * 8) * 32 + k);
      if (at < 2)
        right[lane * 2 + at] = packed<Bits>(b + lane / 4 * 32 + lane % 4 * step + at * 4 * step);
    }
  left.upload(), right.upload();
}

void testMma() {
  int a[16 * 32], b[8 * 32];
  for (int at = 0; at < 16 * 32; ++at)
    a[at] = at * 7 % 13 - 6;
  for (int at = 0; at < 8 * 32; ++at)
    b[at] = at * 5 % 11;
  Buffer<unsigned> left(128), right(64);
  pack<16>(a, b, left, right);
  Buffer<float> d(256);
  mmaHalf<<<1, 32>>>(left.device(), right.device(), d.device());
  expectLaunched();
  d.download();
  const double ones[] = {1, 2, 3, 4}, zeros[4] = {};
  check(isProduct<16>(a, b, d.host(), ones, 1e9), "mma of f16 with f32");
  check(isProduct<8>(a, b, d.host() + 128, zeros, 1e9), "mma of f16 with f16");

  pack<8>(a, b, left, right);
  Buffer<int> sums(128);
  mmaBytes<<<1, 32>>>(left.device(), right.device(), sums.device());
  expectLaunched();
  sums.download();
  const double start[] = {2147483647, 0, 0, -5};
  check(isProduct<32>(a, b, sums.host(), start, 2147483647), "mma of bytes");

  Buffer<double> doubles(64);
  Buffer<float> floats(128);
  mmaOthers<<<1, 32>>>(doubles.device(), floats.device());
  expectLaunched();
  doubles.download(), floats.download();
  bool isRight = true;
  for (int lane = 0; lane < 32; ++lane)
    for (int at = 0; at < 4; ++at) {
      const int row = lane / 4, column = lane % 4 * 2 + at % 2;
      double sum = at ? 0.25 : 0.5, single = 0;
      for (int k = 0; k < 4; ++k) {
        sum = fma(row + 0.1 * k, k * 2.0 - column, sum);
        single += ((row + at / 2 * 8) * 4 + k) * (k * 8 + column);
      }
      isRight = isRight && floats[lane * 4 + at] == single;
      isRight = isRight && (at > 1 || doubles[lane * 2 + at] == sum);
    }
  check(isRight, "mma of f64 and tf32");
}

__global__ void moves(unsigned* output) {
  __shared__ alignas(16) unsigned short tiles[4][8][8], written[2][8][8];
  const unsigned lane = threadIdx.x;
  for (int at = lane; at < 256; at += 32)
    (&tiles[0][0][0])[at] = at;
  __syncwarp();
  const unsigned from = __cvta_generic_to_shared(&tiles[lane / 8][lane % 8][0]);
  unsigned* row = output + lane * 12;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(row[0]), "=r"(row[1]), "=r"(row[2]), "=r"(row[3])
               : "r"(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2];"
               : "=r"(row[4]), "=r"(row[5])
               : "r"(from));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(row[6]) : "r"(row[0]));
  const unsigned to = __cvta_generic_to_shared(&written[lane / 8 % 2][lane % 8][0]);
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(to), "r"(row[0]));
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(
                   __shfl_sync(~0u, to, (lane + 8) % 32)),
               "r"(row[0]));
  __syncwarp();
  row[7] = written[0][lane / 4][lane % 4 * 2];
  row[8] = written[1][lane / 4][lane % 4 * 2];
}

void testMoves() {
  Buffer<unsigned> output(32 * 12);
  moves<<<1, 32>>>(output.device());
  expectLaunched();
  output.download();
  bool isRight = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned line = lane / 4, first = lane % 4 * 2;
    const unsigned plain = line * 8 + first, turned = first * 8 + line;
    for (unsigned matrix = 0; matrix < 4; ++matrix)
      isRight = isRight && output[lane * 12 + matrix] ==
                               ((plain + 1 + matrix * 64) << 16 | (plain + matrix * 64));
    for (unsigned matrix = 0; matrix < 2; ++matrix)
      isRight = isRight && output[lane * 12 + 4 + matrix] ==
                               ((turned + 8 + matrix * 64) << 16 | (turned + matrix * 64));
    isRight = isRight && output[lane * 12 + 6] == ((turned + 8) << 16 | turned);
    isRight = isRight && output[lane * 12 + 7] == plain && output[lane * 12 + 8] == turned;
  }
  check(isRight, "ldmatrix, stmatrix and movmatrix");
}

int main() {
  testShapes<__half, float>("f16 with f32");
  testShapes<__half, __half>("f16 with f16");
  testShapes<__nv_bfloat16, float>("bf16");
  testShapes<signed char, int>("s8");
  testShapes<unsigned char, int>("u8");
  testLayouts<16, 16, 8, wmma::precision::tf32, float>("tf32");
  testLayouts<8, 8, 4, double, double>("f64");
  testMma();
  testMoves();
  return finish("matrices");
}
